import { gzipSync } from 'node:zlib';
import { expositionOf } from './exposition.ts';
import { type KubeletResponse, textResponse } from './kubelet-response.ts';
import type { NodeMachine } from './node-machine.ts';
import type { RequestCounts } from './request-counts.ts';
import type { SummaryWriter } from './summary.ts';

/** What a kubelet is asked, once it has let the caller in. */
export interface KubeletRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly acceptsGzip: boolean;
}

/** Where a kubelet finds its responses. */
export interface KubeletSources {
  readonly machine: NodeMachine;
  readonly requests: RequestCounts;
  readonly summaries: SummaryWriter;
  /** The Pod objects bound to this node, as the API server has them. */
  pods(): Iterable<unknown>;
}

/** Responds as a healthy kubelet does. Like a kubelet it does not mind the method. */
export function routedResponse(
  request: KubeletRequest,
  { machine, requests, summaries, pods }: KubeletSources,
): KubeletResponse {
  switch (request.path) {
    case '/healthz':
      return withHeaders(textResponse(200, 'ok'), { 'X-Content-Type-Options': 'nosniff' });
    case '/stats/summary': {
      const onlyCpuAndMemory = isTrue(request.query.get('only_cpu_and_memory'));
      return json(summaries.write({ onlyCpuAndMemory }));
    }
    case '/pods':
      return json(
        Buffer.from(JSON.stringify({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: [...pods()] })),
      );
    case '/metrics':
      return exposition(requests.exposition(), machine, request.acceptsGzip);
    case '/metrics/resource':
      return exposition(expositionOf(machine), machine, request.acceptsGzip);
    default:
      return withHeaders(textResponse(404, '404 page not found\n'), { 'X-Content-Type-Options': 'nosniff' });
  }
}

/** The summary goes uncompressed even to those who would take it compressed. */
function json(body: Buffer): KubeletResponse {
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body };
}

function exposition(text: string, machine: NodeMachine, acceptsGzip: boolean): KubeletResponse {
  const headers = {
    'Content-Type': 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores',
    'Process-Start-Time-Unix': String(Math.floor(machine.clock.stampMs(machine.bootedAtMs) / 1000)),
  };
  if (!acceptsGzip) return { status: 200, headers, body: Buffer.from(text) };
  const body = gzipSync(text);
  return { status: 200, headers: { 'Content-Encoding': 'gzip', ...headers }, body };
}

function withHeaders(reply: KubeletResponse, headers: Readonly<Record<string, string>>): KubeletResponse {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

/** What Go's `strconv.ParseBool` takes for true. */
function isTrue(text: string | null): boolean {
  return text !== null && ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text);
}
