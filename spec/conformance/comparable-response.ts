import { gunzipSync } from 'node:zlib';
import type { ApiResponse } from '#spec/support/api-request.ts';
import type { RecordedResponse } from './recording.ts';

/** The parts of a response that must be equal, without what differs in each response. */
export interface ComparableResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Framing is negotiated between two peers, and `date` is the time of the response. */
const NOT_COMPARED = new Set([
  'date',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  ':status',
]);
const VOLATILE: Readonly<Record<string, string>> = {
  'audit-id': 'an audit ID',
  etag: 'a hash',
  expires: 'a moment',
  'last-modified': 'a moment',
  'process-start-time-unix': 'a moment',
};

export function comparable({ status, headers, body }: ApiResponse | RecordedResponse): ComparableResponse {
  const compared: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (value !== undefined && !NOT_COMPARED.has(name)) compared[name] = VOLATILE[name] ?? String(value);
  }
  return { status, headers: compared, body: comparableBody(body, compared) };
}

function comparableBody(sent: Buffer, headers: Readonly<Record<string, string>>): string {
  const body = headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
  return isApiDescription(body) ? comparableDescription(body) : body.toString('latin1');
}

function isApiDescription(body: Buffer): boolean {
  return /^\{"(?:swagger|openapi|paths)":/.test(body.subarray(0, 20).toString('latin1'));
}

/** The parts of an API description that programs use, sorted; descriptions in prose differ. */
function comparableDescription(body: Buffer): string {
  const withoutHashes = body
    .toString()
    .replaceAll(/(hash=)[0-9A-F]{128}/g, '$1HASH')
    .replaceAll(/("(?:#\/parameters\/)?[a-zA-Z]+-)[\w-]{8}"/g, '$1HASH"');
  return JSON.stringify(sortedWithoutSentences(JSON.parse(withoutHashes)), null, 1);
}

function sortedWithoutSentences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedWithoutSentences);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => key !== 'info' && !(key === 'description' && typeof inner === 'string'))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sortedWithoutSentences(inner)]),
  );
}
