import { gzipSync } from 'node:zlib';
import { formatExposition } from './exposition.ts';
import { type KubeletResponse, textResponse } from './kubelet-http.ts';
import type { NodeMachine } from './node-machine.ts';
import { formatSummary } from './summary.ts';

/** A request of an authorized caller. */
interface KubeletRequest {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly acceptsGzip: boolean;
}

/** The sources of a kubelet's responses. */
export interface KubeletSources {
  readonly machine: NodeMachine;
  readonly requests: RequestCounts;
}

/** Responds as a healthy kubelet does, which ignores the method. */
export function routedResponse(
  request: KubeletRequest,
  { machine, requests }: KubeletSources,
): KubeletResponse {
  switch (request.path) {
    case '/stats/summary': {
      // Not compressed, even for clients that accept it.
      const onlyCpuAndMemory = isTrue(request.query.get('only_cpu_and_memory'));
      const body = Buffer.from(formatSummary(machine, { onlyCpuAndMemory }));
      return { status: 200, headers: { 'Content-Type': 'application/json' }, body };
    }
    case '/metrics':
      return exposition(requests.exposition(), machine, request.acceptsGzip);
    case '/metrics/resource':
      return exposition(formatExposition(machine), machine, request.acceptsGzip);
    default: {
      const reply = textResponse(404, '404 page not found\n');
      return { ...reply, headers: { ...reply.headers, 'X-Content-Type-Options': 'nosniff' } };
    }
  }
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

/** Whether Go's `strconv.ParseBool` returns true. */
function isTrue(text: string | null): boolean {
  return text !== null && ['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text);
}

/** Requests of a kubelet by path, as in its own `/metrics`. */
export class RequestCounts {
  readonly #counts = new Map<string, number>();

  count(method: string, path: string): void {
    const labels = `long_running="false",method="${method}",path="${rootOf(path)}",server_type="readwrite"`;
    this.#counts.set(labels, (this.#counts.get(labels) ?? 0) + 1);
  }

  /** In the Prometheus text format, with the name, help and labels of a kubelet. */
  exposition(): string {
    const name = 'kubelet_http_requests_total';
    const head = [`# HELP ${name} [ALPHA] Number of the http requests received since the server started`];
    head.push(`# TYPE ${name} counter`);
    const rows = [...this.#counts].sort().map(([labels, count]) => `${name}{${labels}} ${count}`);
    return `${[...head, ...rows].join('\n')}\n`;
  }
}

/** The first part of a path, and the second one, too, below `/metrics` (`trimURLPath` of pkg/kubelet/server). */
function rootOf(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  return parts.slice(0, parts[0] === 'metrics' ? 2 : 1).join('/');
}
