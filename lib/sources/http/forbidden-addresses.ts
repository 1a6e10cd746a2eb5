import { type AddressRange, type IpAddress, isInRange, parseAddressRange } from './ip-address.ts';

/** Addresses that only an administrator may name. */
export interface ForbiddenRange {
  readonly range: string;
  readonly what: string;
  /** Where that is documented. */
  readonly source: string;
}

/**
 * What is no source unless the administrator names it: this machine itself, its link, groups of machines, and where clouds
 * give machines their metadata and credentials. docs/security.md has the same table.
 */
export const FORBIDDEN_RANGES: readonly ForbiddenRange[] = [
  { range: '0.0.0.0/8', what: 'this host, as loopback on Linux', source: 'RFC 1122' },
  { range: '127.0.0.0/8', what: 'loopback', source: 'RFC 1122' },
  {
    range: '169.254.0.0/16',
    what: 'link-local; metadata and credentials of most clouds, DNS caches of nodes',
    source: 'RFC 3927, and the documentation of each cloud',
  },
  { range: '224.0.0.0/4', what: 'multicast', source: 'RFC 5771' },
  { range: '255.255.255.255', what: 'broadcast', source: 'RFC 919' },
  { range: '100.100.100.200', what: 'metadata of Alibaba Cloud', source: 'Alibaba Cloud, ECS user guide' },
  { range: '168.63.129.16', what: 'host agent and DNS of Azure', source: 'Azure, Virtual Network' },
  {
    range: '192.0.0.192',
    what: 'metadata of Oracle Cloud, classic',
    source: 'Oracle Cloud, Compute Classic',
  },
  { range: '::', what: 'this host', source: 'RFC 4291' },
  { range: '::1', what: 'loopback', source: 'RFC 4291' },
  { range: 'fe80::/10', what: 'link-local', source: 'RFC 4291' },
  { range: 'fec0::/10', what: 'site-local, as link-local was once extended', source: 'RFC 3879' },
  { range: 'ff00::/8', what: 'multicast', source: 'RFC 4291' },
  {
    range: 'fd00:ec2::/32',
    what: 'services of AWS on the machine: metadata (::254), credentials of pods in EKS (::23), DNS, time',
    source: 'AWS, EC2 instance metadata and EKS Pod Identity',
  },
  {
    range: 'fd20:ce::254',
    what: 'metadata of Google Cloud',
    source: 'Google Cloud, Compute Engine metadata',
  },
  { range: 'fd00:42::42', what: 'metadata of Scaleway', source: 'Scaleway, Instances' },
  { range: 'fd00:c1::a9fe:a9fe', what: 'metadata of Oracle Cloud', source: 'Oracle Cloud, Compute' },
];

const FORBIDDEN: readonly AddressRange[] = FORBIDDEN_RANGES.map(({ range }) => rangeOf(range));

/** IPv6 addresses that lead to an IPv4 one, and how to find that. */
const EMBEDDINGS: readonly {
  readonly range: AddressRange;
  readonly embedded: (value: bigint) => readonly bigint[];
}[] = [
  { range: rangeOf('::/96'), embedded: lastBits }, // IPv4-compatible, RFC 4291
  { range: rangeOf('::ffff:0:0/96'), embedded: lastBits }, // IPv4-mapped, RFC 4291
  { range: rangeOf('::ffff:0:0:0/96'), embedded: lastBits }, // IPv4-translated, RFC 2765
  { range: rangeOf('64:ff9b::/96'), embedded: lastBits }, // NAT64, RFC 6052
  {
    // NAT64 of a network's own, RFC 8215: behind 96 bits, or behind 48 around the eight bits that are left out
    range: rangeOf('64:ff9b:1::/48'),
    embedded: (value) => [value, (((value >> 64n) & 0xffffn) << 16n) | ((value >> 40n) & 0xffffn)],
  },
  { range: rangeOf('2002::/16'), embedded: (value) => [value >> 80n] }, // 6to4, RFC 3056
  { range: rangeOf('2001::/32'), embedded: (value) => [value >> 64n, ~value] }, // Teredo, RFC 4380: server and, inverted, client
];

/** Whether an address is dialled only where the administrator names it. */
export function isForbidden(address: IpAddress): boolean {
  return [address, ...embeddedIn(address)].some((form) => FORBIDDEN.some((range) => isInRange(form, range)));
}

/** The IPv4 addresses that an IPv6 one may lead to. */
export function embeddedIn({ family, value }: IpAddress): readonly IpAddress[] {
  if (family === 4) return [];
  return EMBEDDINGS.filter(({ range }) => isInRange({ family, value }, range)).flatMap(({ embedded }) =>
    embedded(value).map((each): IpAddress => ({ family: 4, value: each & 0xffff_ffffn })),
  );
}

function lastBits(value: bigint): readonly bigint[] {
  return [value];
}

function rangeOf(text: string): AddressRange {
  const range = parseAddressRange(text);
  if (!range) throw new Error(`"${text}" is no address range`);
  return range;
}
