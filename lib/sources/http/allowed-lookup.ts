import type dns from 'node:dns';
import type { LookupAddress, LookupOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { AllowedHosts } from './allowed-hosts.ts';

/** A lookup that gives only those addresses that may be dialled for the name. */
export function allowedLookup(allowedHosts: AllowedHosts, lookup: typeof dns.lookup): LookupFunction {
  return (host, options: LookupOptions, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return callback(error, '', 0);
      const allowed = addresses.filter(({ address }) => allowedHosts.allows(host, address));
      const [first] = allowed;
      if (!first) {
        const refused = addresses.map(({ address }) => address);
        return callback(allowedHosts.refusal(host, refused), '', 0);
      }
      if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}
