import { embeddedIn, isForbidden } from './forbidden-addresses.ts';
import {
  type AddressRange,
  type IpAddress,
  isInRange,
  parseAddressRange,
  parseIpAddress,
} from './ip-address.ts';

/** A name of DNS, or `*.` and the end of one. */
const NAME = /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]{0,251}[a-z0-9_])?\.?$/;

const FORBIDDEN_RULE =
  'it leads to a loopback, link-local, multicast or metadata address, which --allowed-hosts has to name by that address or a range';
const NAMES_RULE = '--allowed-hosts names neither it nor its address';

/**
 * Which hosts may be asked.
 *
 * What is asked comes out of annotations that many people may write, so a host is judged by the address that is dialled:
 * a name may lead anywhere. Without entries all but {@link isForbidden forbidden} addresses may be asked; with entries
 * only what one of them names, and a forbidden address only where an entry names that very address or a range around it.
 */
export class AllowedHosts {
  readonly #names = new Set<string>();
  readonly #suffixes: string[] = [];
  readonly #ranges: AddressRange[] = [];
  readonly #isOpen: boolean;

  /**
   * @param entries names, `*.SUFFIX`, `*` for any name, addresses and ranges of these
   * @throws an Error that names the entry that is none of these
   */
  constructor(entries: readonly string[]) {
    this.#isOpen = entries.length === 0 || entries.includes('*');
    for (const entry of entries) this.#add(entry);
  }

  /** Whether an entry is one. */
  static isEntry(entry: string): boolean {
    return entry === '*' || parseAddressRange(entry) !== undefined || isName(entry);
  }

  /** Whether a host that was asked for by this name may be dialled at this address. */
  allows(host: string, address: string): boolean {
    const dialled = parseIpAddress(address);
    if (!dialled) return false;
    const isNamed = this.#hasAddress(dialled);
    return isNamed || (!isForbidden(dialled) && (this.#isOpen || this.#hasName(host)));
  }

  /** Whether an entry names this host, be it a name or an address, wherever it leads. */
  names(host: string): boolean {
    const address = parseIpAddress(host.replace(/^\[|\]$/g, ''));
    return address ? this.#hasAddress(address) : this.#isOpen || this.#hasName(host);
  }

  /** The error of a host that must not be asked at any of its addresses; names the flag, and which rule it breaks. */
  refusal(host: string, addresses: readonly string[]): Error {
    const dialled = addresses.map(parseIpAddress).filter((address) => address !== undefined);
    const isForbiddenEverywhere = dialled.length > 0 && dialled.every(isForbidden);
    return new Error(`${host} must not be asked: ${isForbiddenEverywhere ? FORBIDDEN_RULE : NAMES_RULE}`);
  }

  /** An address is named by the IPv4 addresses in it, too, where all of them are: which of them is dialled, the network decides. */
  #hasAddress(address: IpAddress): boolean {
    const isNamed = (form: IpAddress) => this.#ranges.some((range) => isInRange(form, range));
    const embedded = embeddedIn(address);
    return isNamed(address) || (embedded.length > 0 && embedded.every(isNamed));
  }

  #hasName(host: string): boolean {
    const name = canonical(host);
    return this.#names.has(name) || this.#suffixes.some((suffix) => name.endsWith(suffix));
  }

  #add(entry: string): void {
    if (entry === '*') return;
    const range = parseAddressRange(entry);
    if (range) this.#ranges.push(range);
    else if (!isName(entry)) throw new Error(`"${entry}" is no host name, *.suffix, IP address or CIDR`);
    else if (entry.startsWith('*.')) this.#suffixes.push(canonical(entry).slice(1));
    else this.#names.add(canonical(entry));
  }
}

function isName(entry: string): boolean {
  const name = entry.toLowerCase();
  // What ends in a number is an address to every resolver, so it must not pass as a name.
  return NAME.test(name) && !name.includes('..') && !/(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/.test(name);
}

function canonical(host: string): string {
  const name = host.toLowerCase();
  return name.endsWith('.') ? name.slice(0, -1) : name;
}
