export interface ListenAddress {
  /** `undefined` for all interfaces. */
  readonly host: string | undefined;
  readonly port: number;
}

/** Parses `HOST:PORT` or `:PORT` as Go does, with IPv6 addresses in brackets; `undefined` for anything else. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const colon = text.lastIndexOf(':');
  const [host, port] = [text.slice(0, colon), text.slice(colon + 1)];
  if (colon === -1 || !/^\d{1,5}$/.test(port) || Number(port) > 65_535) return undefined;
  if (host.startsWith('[') && host.endsWith(']')) return { host: host.slice(1, -1), port: Number(port) };
  if (/[\s:[\]/]/.test(host)) return undefined;
  return { host: host === '' ? undefined : host, port: Number(port) };
}
