/** How often a kubelet was asked for what, as its own `/metrics` tells it. */
export class RequestCounts {
  readonly #counts = new Map<string, number>();

  count(method: string, path: string): void {
    const labels = `long_running="false",method="${method}",path="${rootOf(path)}",server_type="readwrite"`;
    this.#counts.set(labels, (this.#counts.get(labels) ?? 0) + 1);
  }

  /** In the Prometheus text format, with the name, help and labels that a kubelet has. */
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
