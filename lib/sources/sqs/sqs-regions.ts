import { IdentityHosts, type IdentityHostsOptions } from './identity-hosts.ts';
import { SqsRegion, type SqsRegionOptions, sqsRegionKey } from './sqs-region.ts';

/** A client of the SDK takes 80 kB. Those that were asked for the longest ago go; who asks them still makes do with its own. */
const MOST = 100;

/** Regions of SQS, one for all that ask it in the same way. */
export class SqsRegions implements AsyncDisposable {
  readonly #regions = new Map<string, SqsRegion>();
  readonly #identityHosts: IdentityHosts;

  /** By default, SQS alone sees the identity of this program. */
  constructor(identityHosts: IdentityHostsOptions = { hosts: [] }) {
    this.#identityHosts = new IdentityHosts(identityHosts);
  }

  /** @throws an Error where the endpoint must not see the identity of this program, which the options leave to it to show */
  for(options: SqsRegionOptions): SqsRegion {
    if (options.endpoint && !options.credentials) this.#identityHosts.check(options.endpoint);
    const key = sqsRegionKey(options);
    const region = this.#regions.get(key) ?? new SqsRegion(options);
    this.#regions.delete(key); // to the end
    this.#regions.set(key, region);
    const [oldest] = this.#regions;
    if (this.#regions.size > MOST && oldest) {
      this.#regions.delete(oldest[0]);
      void oldest[1][Symbol.asyncDispose]().catch(() => {}); // it has nothing to give back
    }
    return region;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#regions.values()].map((region) => region[Symbol.asyncDispose]()));
  }
}
