import { readFileSync } from 'node:fs';
import type { Recording } from './recording.ts';

const FILE = 'spec/fixtures/reference/aggregator/inbound.txt';

/** Reads every request that an API server sent to the reference: its own, and those of kubectl and the autoscaler. */
export function readInboundRecordings(): readonly Recording[] {
  const requests = readFileSync(FILE, 'utf8')
    .split(/^(?:---|===) .*$/m)
    .filter((text) => text.trim() !== '');
  return requests.map((text, index) => readInboundRecording(text.trim().split('\n'), index + 1));
}

/** Of the response, only status and media type were recorded. */
function readInboundRecording(lines: readonly string[], number: number): Recording {
  const [requestLine = '', ...rest] = lines;
  const [method = '', path = ''] = requestLine.split(' ');
  const headers: Record<string, string | string[]> = {};
  for (const line of rest.filter((one) => !one.startsWith('=>'))) {
    const [name = '', value = ''] = line.split(/: (.*)/, 2);
    const before = headers[name.toLowerCase()];
    headers[name.toLowerCase()] = before === undefined ? value : [before, value].flat();
  }
  const [, status = '', mediaType = ''] = rest.at(-1)?.split(' ') ?? [];
  const hash = /hash=([0-9A-F]+)/.exec(path)?.[1];
  const etag = headers['if-none-match'] ?? (hash && `"${hash}"`);
  return {
    name: `${number}: ${headers['user-agent'] ?? headers['x-remote-user']}, ${method} ${path.slice(0, 100)}`,
    user: 'proxy',
    method,
    path,
    isHttp2: false,
    headers,
    body: undefined,
    response: {
      status: Number(status),
      headers: {
        ...(mediaType !== 'None' && { 'content-type': mediaType }),
        ...(etag && { etag: String(etag) }),
        date: 'Sat, 21 Nov 2026 08:52:47 GMT',
      },
      body: Buffer.alloc(0),
    },
  };
}
