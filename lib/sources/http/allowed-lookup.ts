import type { LookupFunction } from 'node:net';
import { isIPv6 } from 'node:net';
import type { AllowedHosts } from './allowed-hosts.ts';

/** Finds all addresses of a host name, one at least. @throws when there are none */
export type FindAddresses = (host: string) => Promise<readonly string[]>;

/** Which hosts are dialled, and where they are. */
export interface NetworkOptions {
  readonly allowedHosts: AllowedHosts;
  /** By default only addresses are dialled, and no names: Node's own lookup lets one silent name server stall all sources. */
  readonly findAddresses?: FindAddresses | undefined;
}

/** Those addresses of a host that may be dialled. @throws when there are none */
export async function findAllowedAddresses(
  host: string,
  { allowedHosts, findAddresses = noAddresses }: NetworkOptions,
): Promise<readonly string[]> {
  const addresses = await findAddresses(host);
  const allowed = addresses.filter((address) => allowedHosts.allows(host, address));
  if (allowed.length === 0) throw allowedHosts.refusal(host, addresses);
  return allowed;
}

/** A lookup, as Node's sockets take it, that gives only those addresses that may be dialled for the name. */
export function allowedLookup(network: NetworkOptions): LookupFunction {
  return (host, options, callback) => {
    findAllowedAddresses(host, network).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
        const family = Number(String(options.family ?? 0).replace('IPv', ''));
        const wanted = family === 0 ? found : found.filter((each) => each.family === family);
        const [first] = wanted;
        if (!first) callback(new Error(`${host} has no IPv${family} address`), '', 0);
        else if (options.all) callback(null, wanted);
        else callback(null, first.address, first.family);
      },
      (error) => callback(error, '', 0),
    );
  };
}

async function noAddresses(host: string): Promise<never> {
  throw new Error(`${host} cannot be resolved: no name resolver is configured`);
}
