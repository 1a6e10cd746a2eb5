import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = 'spec/fixtures/reference/requests';

/** One request to the reference, and its response. */
export interface Recording {
  readonly name: string;
  readonly user: string;
  readonly method: string;
  readonly path: string;
  readonly isHttp2: boolean;
  /** Includes headers that the client adds by itself. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string | undefined;
  readonly response: RecordedResponse;
}

/** The response of the reference. */
export interface RecordedResponse {
  readonly status: number;
  /** By name in lower case; several of one name are joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Reads every recorded request. */
export function readRecordings(folder = FOLDER): readonly Recording[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.req'))
    .map((file) => file.slice(0, -'.req'.length))
    .sort()
    .map((name) => readRecording(folder, name));
}

function readRecording(folder: string, name: string): Recording {
  const text = readFileSync(join(folder, `${name}.req`), 'utf8');
  const field = (key: string) => new RegExp(`^${key}=(.*)$`, 'm').exec(text)?.[1] ?? '';
  const request = readCurlArguments(field('args'));
  const response = readResponse(folder, name);
  const isHead = request.method === 'HEAD'; // curl -I wrote the headers again in place of the body
  return {
    name,
    user: field('user'),
    path: field('path'),
    ...request,
    response: isHead ? { ...response, body: Buffer.alloc(0) } : response,
  };
}

function readCurlArguments(line: string): Omit<Recording, 'name' | 'user' | 'path' | 'response'> {
  const headers: Record<string, string> = { accept: '*/*', 'user-agent': 'curl/7.88.1' };
  let method = 'GET';
  let isHttp2 = false;
  let body: string | undefined;
  for (const argument of line.split(/(?:^| )(?=-[HXIdu]\b|--http2|--path-as-is)/).filter(Boolean)) {
    const [option = '', value = ''] = splitAt(argument, ' ');
    if (option === '-X') method = value;
    else if (option === '-I') method = 'HEAD';
    else if (option === '-d') body = value;
    else if (option === '--http2') isHttp2 = true;
    else if (option === '-u') headers.authorization = `Basic ${btoa(value)}`;
    else if (option === '-H') {
      const [key = '', content = ''] = splitAt(value, /: |;$/);
      headers[key.toLowerCase()] = content;
    }
  }
  return { method, isHttp2, headers, body };
}

function readResponse(folder: string, name: string): RecordedResponse {
  const head = readResponseHead(readFileSync(join(folder, `${name}.http`), 'utf8'));
  return { ...head, body: readFileSync(join(folder, `${name}.body`)) };
}

/** Reads a status line and the headers after it. */
export function readResponseHead(text: string): Omit<RecordedResponse, 'body'> {
  const [statusLine = '', ...lines] = text.trim().split(/\r?\n/);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [key = '', value = ''] = splitAt(line, ': ');
    const before = headers[key.toLowerCase()];
    headers[key.toLowerCase()] = before === undefined ? value : `${before}, ${value}`;
  }
  return { status: Number(statusLine.split(' ')[1]), headers };
}

/** The texts before and after the first separator. */
function splitAt(text: string, separator: string | RegExp): readonly string[] {
  const [before = ''] = text.split(separator, 1);
  return [before, text.slice(before.length).replace(separator, '')];
}
