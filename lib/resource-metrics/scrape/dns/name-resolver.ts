import { Resolver } from 'node:dns/promises';
import net from 'node:net';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { raceAbort } from '#lib/time/race-abort.ts';
import { NameLookupError } from './name-lookup-error.ts';
import { candidateNames, readHosts, readSearch } from './resolver-files.ts';

/** How long a found address is reused. */
const FOUND_TTL_MS = 30_000;
/** How long a failure is reused: shorter, for what was just created may appear at any moment. */
const FAILED_TTL_MS = 10_000;

/** A lost packet is asked for again, after twice as long each time. */
const FIRST_TRY_MS = 500;
const TRIES = 4;

/** What a name resolver needs from outside. */
export interface NameResolverOptions {
  readonly clock: Clock;
  /** How long one name may take. */
  readonly timeoutMs: number;
  /** Text of the hosts file, `/etc/hosts`; read again at every lookup that is not cached. */
  readonly hosts: () => Promise<string>;
  /** Text of `/etc/resolv.conf`: its search list and `ndots`. */
  readonly resolvConf: () => Promise<string>;
  /** DNS servers as `address:port`; by default those that the machine is configured with. */
  readonly servers?: readonly string[];
}

/**
 * Resolves host names without ever blocking others.
 *
 * Node's own `dns.lookup` occupies one of four threads until the name server responds, so that a few
 * unresolvable names would stall all. This asks by c-ares, and reads the hosts file and the search list itself, as Go does.
 */
export class NameResolver {
  readonly #options: NameResolverOptions;
  readonly #dns: Resolver;
  readonly #cache = new Map<string, { readonly address: Promise<string>; expiresAtMs: number }>();

  constructor(options: NameResolverOptions) {
    this.#options = options;
    this.#dns = new Resolver({ timeout: FIRST_TRY_MS, tries: TRIES });
    if (options.servers) this.#dns.setServers(options.servers);
  }

  /**
   * @returns an IP address: the host itself where it is one; IPv4 before IPv6 where a name has both
   * @throws {NameLookupError} when there is none; the signal's reason when it aborts first
   */
  async resolve(host: string, signal: AbortSignal): Promise<string> {
    if (net.isIP(host) !== 0) return host;
    signal.throwIfAborted();
    const nowMs = this.#options.clock.monotonicMs();
    const cached = this.#cache.get(host);
    if (cached && cached.expiresAtMs > nowMs) return await raceAbort(cached.address, signal);
    const entry = { address: this.#lookUpInTime(host), expiresAtMs: Number.POSITIVE_INFINITY };
    const expireAfter = (ttlMs: number) => () => {
      entry.expiresAtMs = this.#options.clock.monotonicMs() + ttlMs;
    };
    entry.address.then(expireAfter(FOUND_TTL_MS), expireAfter(FAILED_TTL_MS));
    this.#forgetExpired(nowMs);
    this.#cache.set(host, entry);
    return await raceAbort(entry.address, signal);
  }

  #forgetExpired(nowMs: number): void {
    for (const [host, { expiresAtMs }] of this.#cache) if (expiresAtMs <= nowMs) this.#cache.delete(host);
  }

  async #lookUpInTime(host: string): Promise<string> {
    const { clock, timeoutMs } = this.#options;
    const expired = () =>
      new NameLookupError(
        'DNS_SILENT',
        `no response from DNS for "${host}" within ${formatDuration(timeoutMs)}`,
      );
    using deadline = startDeadline(clock, timeoutMs, { expired });
    return await raceAbort(this.#lookUp(host, deadline.signal), deadline.signal);
  }

  async #lookUp(host: string, signal: AbortSignal): Promise<string> {
    const listed = readHosts(await this.#options.hosts()).get(host.toLowerCase());
    if (listed !== undefined) return listed;
    for (const name of candidateNames(host, readSearch(await this.#options.resolvConf()))) {
      signal.throwIfAborted();
      const address = await this.#query(name);
      if (address !== undefined) return address;
    }
    throw new NameLookupError('DNS_NO_SUCH_HOST', `no such host: "${host}"`);
  }

  /** Asks for both at once. An IPv4 address that is there does not wait for the other: some name servers never respond to that. */
  async #query(name: string): Promise<string | undefined> {
    const asking = [this.#dns.resolve4(name), this.#dns.resolve6(name)].map(outcomeOf);
    const outcomes: PromiseSettledResult<string[]>[] = [];
    for (const each of asking) {
      const outcome = await each;
      if (outcome.status === 'fulfilled' && outcome.value[0] !== undefined) return outcome.value[0];
      outcomes.push(outcome);
    }
    for (const { reason } of outcomes.filter((outcome) => outcome.status === 'rejected')) {
      if (reason.code !== 'ENOTFOUND' && reason.code !== 'ENODATA') {
        throw new NameLookupError('DNS_FAILED', `cannot look up "${name}": ${reason.code}`, {
          cause: reason,
        });
      }
    }
    return undefined;
  }
}

async function outcomeOf<T>(promise: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [outcome] = await Promise.allSettled([promise]);
  return outcome;
}
