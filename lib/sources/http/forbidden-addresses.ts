import { type AddressRange, type IpAddress, isInRange, parseAddressRange } from './ip-address.ts';

/**
 * What no source has business at unless the administrator names it: this machine itself, its link, groups of machines,
 * and where clouds tell machines about themselves and their credentials outside of link-local addresses.
 */
const FORBIDDEN: readonly AddressRange[] = [
  '0.0.0.0/8', // this host, as loopback on Linux
  '127.0.0.0/8',
  '169.254.0.0/16', // link-local; the metadata service of most clouds
  '224.0.0.0/4', // multicast
  '255.255.255.255',
  '100.100.100.200', // metadata of Alibaba Cloud
  '168.63.129.16', // the host agent of Azure
  '::',
  '::1',
  'fe80::/10',
  'fec0::/10', // site-local, as link-local was once meant to be extended
  'ff00::/8',
  'fd00:ec2::254', // metadata of AWS
  'fd20:ce::254', // metadata of Google Cloud
].map(rangeOf);

/** IPv6 addresses that lead to an IPv4 one, and how many bits stand behind that one. */
const EMBEDDINGS: readonly { readonly range: AddressRange; readonly bitsBehind: number }[] = [
  { range: rangeOf('::/96'), bitsBehind: 0 }, // IPv4-compatible
  { range: rangeOf('::ffff:0:0/96'), bitsBehind: 0 }, // IPv4-mapped
  { range: rangeOf('::ffff:0:0:0/96'), bitsBehind: 0 }, // IPv4-translated
  { range: rangeOf('64:ff9b::/96'), bitsBehind: 0 }, // NAT64
  { range: rangeOf('64:ff9b:1::/48'), bitsBehind: 0 }, // NAT64 of a network's own, with a prefix of 96 bits
  { range: rangeOf('2002::/16'), bitsBehind: 80 }, // 6to4
];

/** NAT64 of a network's own may also embed an address behind 48 bits, around the eight bits that are left out. */
const LOCAL_NAT64 = rangeOf('64:ff9b:1::/48');

/** Whether an address is dialled only where the administrator names it. */
export function isForbidden(address: IpAddress): boolean {
  return formsOf(address).some((form) => FORBIDDEN.some((range) => isInRange(form, range)));
}

/** An address, and the IPv4 addresses that it may lead to. */
export function formsOf(address: IpAddress): readonly IpAddress[] {
  if (address.family === 4) return [address];
  const embedded = EMBEDDINGS.filter(({ range }) => isInRange(address, range)).map(({ bitsBehind }) =>
    ipv4Of(address.value >> BigInt(bitsBehind)),
  );
  if (!isInRange(address, LOCAL_NAT64)) return [address, ...embedded];
  const [high, low] = [(address.value >> 64n) & 0xffffn, (address.value >> 40n) & 0xffffn];
  return [address, ...embedded, ipv4Of((high << 16n) | low)];
}

function ipv4Of(value: bigint): IpAddress {
  return { family: 4, value: value & 0xffff_ffffn };
}

function rangeOf(text: string): AddressRange {
  const range = parseAddressRange(text);
  if (!range) throw new Error(`"${text}" is no address range`);
  return range;
}
