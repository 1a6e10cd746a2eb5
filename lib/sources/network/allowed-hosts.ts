import { isIPv6, type LookupFunction } from 'node:net';
import type { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import {
  type AddressRange,
  type IpAddress,
  isInRange,
  parseAddressRange,
  parseIpAddress,
} from './ip-address.ts';

/** A DNS name, or `*.` and a suffix. */
const NAME = /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?\.?$/;

const NAMES_RULE = '--allowed-hosts lists neither its name nor its address';

/**
 * Decides which hosts sources may connect to.
 *
 * The hosts come from annotations of untrusted users, so the resolved address decides: a name may resolve to any
 * address. Without entries, all but {@link isForbidden forbidden} addresses are allowed. With entries, only listed
 * hosts are allowed, and a forbidden address only if an entry lists that address or a range that contains it.
 */
export class AllowedHosts {
  readonly #names = new Set<string>();
  readonly #suffixes: string[] = [];
  readonly #ranges: AddressRange[] = [];
  readonly #isOpen: boolean;

  /**
   * @param entries names, `*.SUFFIX`, `*` for any name, addresses and address ranges
   * @throws an Error that names an invalid entry
   */
  constructor(entries: readonly string[]) {
    this.#isOpen = entries.length === 0 || entries.includes('*');
    for (const entry of entries) this.#add(entry);
  }

  /** Whether an entry is valid. */
  static isEntry(entry: string): boolean {
    return entry === '*' || parseAddressRange(entry) !== undefined || isName(entry);
  }

  /** Whether a connection to a host is allowed at this address. */
  allows(host: string, address: string): boolean {
    const dialled = parseIpAddress(address);
    if (!dialled) return false;
    const isNamed = this.#hasAddress(dialled);
    return isNamed || (!findForbidden(dialled) && (this.#isOpen || this.#hasName(host)));
  }

  /** Whether an entry lists this host, a name or an address, regardless of what a name resolves to. */
  names(host: string): boolean {
    const address = parseIpAddress(host.replace(/^\[|\]$/g, ''));
    return address ? this.#hasAddress(address) : this.#isOpen || this.#hasName(host);
  }

  /** Creates the error of a host without allowed addresses; names the flag and the rule. */
  refusal(host: string, addresses: readonly string[]): Error {
    const dialled = addresses.map(parseIpAddress).filter((address) => address !== undefined);
    const forbidden = dialled.map(findForbidden).filter((range) => range !== undefined);
    const [first] = forbidden.length === dialled.length ? forbidden : [];
    if (!first) return new Error(`${host} is not allowed: ${NAMES_RULE}`);
    const subject = parseIpAddress(host) ? 'the address' : 'its address';
    return new Error(
      `${host} is not allowed: ${subject} (${first.kind}) is refused unless --allowed-hosts lists it or its range`,
    );
  }

  /** An IPv6 address is also listed if all IPv4 addresses that it embeds are; the network decides which one is used. */
  #hasAddress(address: IpAddress): boolean {
    const isNamed = (form: IpAddress) => this.#ranges.some((range) => isInRange(form, range));
    const embedded = findEmbedded(address);
    return isNamed(address) || (embedded.length > 0 && embedded.every(isNamed));
  }

  #hasName(host: string): boolean {
    const name = canonicalize(host);
    return this.#names.has(name) || this.#suffixes.some((suffix) => name.endsWith(suffix));
  }

  #add(entry: string): void {
    if (entry === '*') return;
    const range = parseAddressRange(entry);
    if (range) this.#ranges.push(range);
    else if (!isName(entry)) throw new Error(`"${entry}" is not a host name, *.suffix, IP address or CIDR`);
    else if (entry.startsWith('*.')) this.#suffixes.push(canonicalize(entry).slice(1));
    else this.#names.add(canonicalize(entry));
  }
}

function isName(entry: string): boolean {
  const name = entry.toLowerCase();
  // Resolvers treat a name that ends in a number as an address.
  return NAME.test(name) && !name.includes('..') && !/(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/.test(name);
}

function canonicalize(host: string): string {
  const name = host.toLowerCase();
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

/** Resolves a host name to at least one address. @throws if there is none */
export type FindAddresses = (host: string) => Promise<readonly string[]>;

export interface NetworkOptions {
  readonly allowedHosts: AllowedHosts;
  /** By default names are rejected: with Node's own lookup, one silent name server stalls all sources. */
  readonly findAddresses?: FindAddresses | undefined;
  /** Limits the work that data of untrusted servers causes; by default it is not limited. */
  readonly share?: EventLoopShare | undefined;
}

/** Returns the allowed addresses of a host. @throws if there is none */
export async function findAllowedAddresses(
  host: string,
  { allowedHosts, findAddresses = rejectNames }: NetworkOptions,
): Promise<readonly string[]> {
  const addresses = await findAddresses(host);
  const allowed = addresses.filter((address) => allowedHosts.allows(host, address));
  if (allowed.length === 0) throw allowedHosts.refusal(host, addresses);
  return allowed;
}

/** Creates a lookup function for Node's sockets that returns only allowed addresses. */
export function createAllowedLookup(network: NetworkOptions): LookupFunction {
  return (host, options, callback) => {
    findAllowedAddresses(host, network).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
        const family = Number(String(options.family ?? 0).replace('IPv', ''));
        const matching = family === 0 ? found : found.filter((each) => each.family === family);
        const [first] = matching;
        if (!first) callback(new Error(`${host} has no IPv${family} address`), '', 0);
        else if (options.all) callback(null, matching);
        else callback(null, first.address, first.family);
      },
      (error) => callback(error, '', 0),
    );
  };
}

async function rejectNames(host: string): Promise<never> {
  throw new Error(`Cannot resolve ${host}: no name resolver is configured`);
}

/** Addresses that only an administrator may allow. */
interface ForbiddenRange {
  readonly range: string;
  /** For messages. */
  readonly kind: string;
  /** For the documentation, after the kind. */
  readonly details?: string;
  /** Documentation of the range. */
  readonly source: string;
}

/**
 * Addresses that are forbidden unless an administrator lists them: loopback, link-local, multicast, and the metadata
 * and credentials services of clouds. docs/explanation/security.md has the same table.
 */
export const FORBIDDEN_RANGES: readonly ForbiddenRange[] = [
  { range: '0.0.0.0/8', kind: 'unspecified', details: 'connects to loopback on Linux', source: 'RFC 1122' },
  { range: '127.0.0.0/8', kind: 'loopback', source: 'RFC 1122' },
  {
    range: '169.254.0.0/16',
    kind: 'link-local',
    details: 'metadata and credentials of most clouds, DNS caches of nodes',
    source: 'RFC 3927, and the documentation of each cloud',
  },
  { range: '224.0.0.0/4', kind: 'multicast', source: 'RFC 5771' },
  { range: '255.255.255.255', kind: 'broadcast', source: 'RFC 919' },
  { range: '100.100.100.200', kind: 'metadata of Alibaba Cloud', source: 'Alibaba Cloud, ECS user guide' },
  { range: '168.63.129.16', kind: 'host agent and DNS of Azure', source: 'Azure, Virtual Network' },
  {
    range: '192.0.0.192',
    kind: 'metadata of Oracle Cloud',
    details: 'classic',
    source: 'Oracle Cloud, Compute Classic',
  },
  { range: '::', kind: 'unspecified', details: 'connects to loopback on Linux', source: 'RFC 4291' },
  { range: '::1', kind: 'loopback', source: 'RFC 4291' },
  { range: 'fe80::/10', kind: 'link-local', source: 'RFC 4291' },
  { range: 'fec0::/10', kind: 'site-local', details: 'deprecated', source: 'RFC 3879' },
  { range: 'ff00::/8', kind: 'multicast', source: 'RFC 4291' },
  {
    range: 'fd00:ec2::/32',
    kind: 'services of AWS on the machine',
    details: 'metadata (::254), credentials of pods in EKS (::23), DNS, time',
    source: 'AWS, EC2 instance metadata and EKS Pod Identity',
  },
  {
    range: 'fd20:ce::254',
    kind: 'metadata of Google Cloud',
    source: 'Google Cloud, Compute Engine metadata',
  },
  { range: 'fd00:42::42', kind: 'metadata of Scaleway', source: 'Scaleway, Instances' },
  { range: 'fd00:c1::a9fe:a9fe', kind: 'metadata of Oracle Cloud', source: 'Oracle Cloud, Compute' },
];

const FORBIDDEN: readonly { readonly range: AddressRange; readonly entry: ForbiddenRange }[] =
  FORBIDDEN_RANGES.map((entry) => ({ range: parseKnownRange(entry.range), entry }));

/** IPv6 ranges that embed IPv4 addresses, and how to extract these. */
const EMBEDDINGS: readonly {
  readonly range: AddressRange;
  readonly embedded: (value: bigint) => readonly bigint[];
}[] = [
  { range: parseKnownRange('::/96'), embedded: lastBits }, // IPv4-compatible, RFC 4291
  { range: parseKnownRange('::ffff:0:0/96'), embedded: lastBits }, // IPv4-mapped, RFC 4291
  { range: parseKnownRange('::ffff:0:0:0/96'), embedded: lastBits }, // IPv4-translated, RFC 2765
  { range: parseKnownRange('64:ff9b::/96'), embedded: lastBits }, // NAT64, RFC 6052
  {
    // Local-use NAT64, RFC 8215: after 96 bits, or after 48 bits around eight unused bits
    range: parseKnownRange('64:ff9b:1::/48'),
    embedded: (value) => [value, (((value >> 64n) & 0xffffn) << 16n) | ((value >> 40n) & 0xffffn)],
  },
  { range: parseKnownRange('2002::/16'), embedded: (value) => [value >> 80n] }, // 6to4, RFC 3056
  { range: parseKnownRange('2001::/32'), embedded: (value) => [value >> 64n, ~value] }, // Teredo, RFC 4380: server and, inverted, client
];

/** Returns the forbidden range that contains an address, or else an IPv4 address that it embeds. */
function findForbidden(address: IpAddress): ForbiddenRange | undefined {
  const forms = [address, ...findEmbedded(address)];
  const found = forms.map((form) => FORBIDDEN.find(({ range }) => isInRange(form, range)));
  return found.find((one) => one !== undefined)?.entry;
}

/** Returns the IPv4 addresses that an IPv6 address embeds. */
function findEmbedded({ family, value }: IpAddress): readonly IpAddress[] {
  if (family === 4) return [];
  return EMBEDDINGS.filter(({ range }) => isInRange({ family, value }, range)).flatMap(({ embedded }) =>
    embedded(value).map((each): IpAddress => ({ family: 4, value: each & 0xffff_ffffn })),
  );
}

function lastBits(value: bigint): readonly bigint[] {
  return [value];
}

function parseKnownRange(text: string): AddressRange {
  const range = parseAddressRange(text);
  if (!range) throw new Error(`"${text}" is not an address range`);
  return range;
}
