import net from 'node:net';

/** An IP address as a number, for comparison with ranges. */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
}

/** All addresses with a common prefix. */
export interface AddressRange {
  readonly first: IpAddress;
  readonly prefixLength: number;
}

const BITS = { 4: 32, 6: 128 } as const;
const GROUPS = 8;

/** Parses an address of either family, without brackets; ignores a zone. `undefined` if the text is not an address. */
export function parseIpAddress(text: string): IpAddress | undefined {
  if (net.isIPv4(text)) return { family: 4, value: joinBits(text.split('.').map(Number), 8) };
  if (!net.isIPv6(text)) return undefined;
  const [address = ''] = text.split('%', 1);
  // The URL parser writes the address in its canonical form, without a dotted part.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = tail === undefined ? [] : Array(GROUPS - before.length - after.length).fill(0);
  return { family: 6, value: joinBits([...before, ...zeros, ...after], 16) };
}

/** Parses `10.0.0.0/8`, `fd00::/8`, or a single address as its own range; `undefined` for other text. */
export function parseAddressRange(text: string): AddressRange | undefined {
  const slash = text.indexOf('/');
  const first = parseIpAddress(slash === -1 ? text : text.slice(0, slash));
  if (!first || text.includes('%')) return undefined;
  const bits = BITS[first.family];
  if (slash === -1) return { first, prefixLength: bits };
  const length = text.slice(slash + 1);
  if (!/^\d{1,3}$/.test(length) || Number(length) > bits) return undefined;
  return { first, prefixLength: Number(length) };
}

export function isInRange(address: IpAddress, { first, prefixLength }: AddressRange): boolean {
  if (address.family !== first.family) return false;
  const rest = BigInt(BITS[first.family] - prefixLength);
  return address.value >> rest === first.value >> rest;
}

function groupsOf(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

function joinBits(parts: readonly number[], bitsEach: number): bigint {
  return parts.reduce((value, part) => (value << BigInt(bitsEach)) | BigInt(part), 0n);
}
