import net from 'node:net';

/** How names without enough dots are completed, resolv.conf(5). */
export interface NameSearch {
  readonly domains: readonly string[];
  /** A name with fewer dots is tried with the domains first. */
  readonly ndots: number;
}

/** Reads a hosts(5) file: names, in lower case, to the first address listed for each, IPv4 before IPv6. */
export function readHosts(text: string): ReadonlyMap<string, string> {
  const addresses = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = fields(line);
    if (net.isIP(address) === 0) continue;
    for (const name of names.map((each) => each.toLowerCase())) {
      const held = addresses.get(name);
      if (held === undefined || (net.isIPv6(held) && net.isIPv4(address))) addresses.set(name, address);
    }
  }
  return addresses;
}

/** Reads the search list and `ndots` (1 where it is not set) of a resolv.conf(5) file. */
export function readSearch(text: string): NameSearch {
  let domains: readonly string[] = [];
  let ndots = 1;
  for (const line of text.split('\n')) {
    const [keyword, ...values] = fields(line);
    if (keyword === 'search' || keyword === 'domain') domains = values;
    if (keyword !== 'options') continue;
    for (const option of values) {
      const value = /^ndots:(\d+)$/.exec(option)?.[1];
      if (value !== undefined) ndots = Math.min(Number(value), 15);
    }
  }
  return { domains: domains.map((domain) => domain.replace(/\.$/, '')).filter(Boolean), ndots };
}

/** The absolute names that a host may stand for, in the order in which to try them. */
export function candidateNames(host: string, { domains, ndots }: NameSearch): readonly string[] {
  if (host.endsWith('.')) return [host.slice(0, -1)];
  const completed = domains.map((domain) => `${host}.${domain}`);
  const dots = host.split('.').length - 1;
  return dots >= ndots ? [host, ...completed] : [...completed, host];
}

function fields(line: string): readonly string[] {
  return line
    .replace(/[#;].*/, '')
    .trim()
    .split(/\s+/);
}
