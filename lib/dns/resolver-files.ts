import net from 'node:net';

/** How short names are completed, resolv.conf(5). */
interface NameSearch {
  readonly domains: readonly string[];
  /** A name with fewer dots is tried with the domains first. */
  readonly ndots: number;
}

/** The limit of DNS, without the final dot. */
export const MAX_NAME_LENGTH = 253;

/** Finds the addresses of a lower-case name in a hosts(5) file, IPv4 before IPv6. */
export function findInHosts(text: string, name: string): readonly string[] {
  const addresses = text
    .split('\n')
    .map(fields)
    .filter(([address = '', ...names]) => net.isIP(address) !== 0 && names.some((each) => isSame(each, name)))
    .map(([address = '']) => address);
  return [...new Set([...addresses.filter(net.isIPv4), ...addresses.filter(net.isIPv6)])];
}

/** Reads the search list and `ndots` (default 1) of a resolv.conf(5) file. */
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

/** Returns the absolute names to try, in order; names too long for DNS are left out. */
export function candidateNames(host: string, { domains, ndots }: NameSearch): readonly string[] {
  const names = host.endsWith('.') ? [host.slice(0, -1)] : completed(host, { domains, ndots });
  return names.filter((name) => name.length <= MAX_NAME_LENGTH);
}

function completed(host: string, { domains, ndots }: NameSearch): readonly string[] {
  const names = domains.map((domain) => `${host}.${domain}`);
  const dots = host.split('.').length - 1;
  return dots >= ndots ? [host, ...names] : [...names, host];
}

function isSame(listed: string, name: string): boolean {
  return listed.length === name.length && listed.toLowerCase() === name;
}

function fields(line: string): readonly string[] {
  return line
    .replace(/[#;].*/, '')
    .trim()
    .split(/\s+/);
}
