import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import net from 'node:net';
import { domainToASCII } from 'node:url';
import { ExpiringCache } from '#lib/cache/expiring-cache.ts';
import { FairSemaphore } from '#lib/concurrency/semaphore.ts';
import { currentTenant } from '#lib/concurrency/tenant.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { NameLookupError } from './name-lookup-error.ts';
import { candidateNames, findInHosts, MAX_NAME_LENGTH, readSearch } from './resolver-files.ts';

/** How long found addresses are reused, whatever time to live their records have. */
const FOUND_TTL_MS = 30_000;
/** How long a failure is reused: shorter, for what was just created may appear at any moment. */
const FAILED_TTL_MS = 10_000;
/** Results in the cache; those that were used the longest ago are removed first. */
const MAX_CACHED = 10_000;
/** Of each family; a name may have thousands. */
const MAX_ADDRESSES = 32;

/** A lost packet is sent again, after twice as long each time. */
const FIRST_TRY_MS = 500;
const TRIES = 4;
/** How much longer than its IPv4 addresses a lookup waits for IPv6 addresses, as RFC 8305 recommends. */
const IPV6_DELAY_MS = 50;
/** Codes of c-ares for a name that has no address of a family, or that no name server has. */
const NOT_FOUND: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/** What a name resolver needs from outside. */
export interface NameResolverOptions {
  readonly clock: Clock;
  /** How long one lookup may take, and how long one may wait before it begins. */
  readonly timeoutMs: number;
  /** Text of the hosts file, `/etc/hosts`; read again at every lookup that is not cached. */
  readonly hosts: () => Promise<string>;
  /** Text of `/etc/resolv.conf`: its search list and `ndots`. */
  readonly resolvConf: () => Promise<string>;
  /** DNS servers as `address:port`; by default those that the machine is configured with. */
  readonly servers?: readonly string[];
  /** Lookups at once, of which a tenant has no more than it leaves free to others; by default unbounded. */
  readonly maxConcurrent?: number;
}

/** For whom a name is resolved. */
export interface ResolveOptions {
  /** Ends the wait, not the lookup of others who wait for it. */
  readonly signal?: AbortSignal | undefined;
  /** The name of a namespace; by default the program itself. */
  readonly tenant?: string | undefined;
}

interface Outcome {
  readonly addresses: readonly string[];
  readonly error?: NameLookupError;
}

/** The queries of one tenant that are under way. */
interface Channel {
  readonly dns: Resolver;
  users: number;
}

/**
 * Resolves host names without blocking other lookups.
 *
 * Node's own `dns.lookup` occupies one of two threads until the name server responds, so that a few names without a response
 * stall all. This queries by c-ares, and reads the hosts file and the search list itself, as Go does. Tenants share neither
 * results nor queries: what one tenant has looked up, and how its name servers respond, has no effect on another.
 */
export class NameResolver {
  readonly #options: NameResolverOptions;
  readonly #cache: ExpiringCache<Outcome>;
  readonly #permits: FairSemaphore;
  readonly #channels = new Map<string, Channel>();

  constructor(options: NameResolverOptions) {
    this.#options = options;
    this.#cache = new ExpiringCache({ clock: options.clock, maxEntries: MAX_CACHED });
    this.#permits = new FairSemaphore(options.maxConcurrent ?? Number.POSITIVE_INFINITY);
  }

  /** A resolver with the files and name servers of this machine. */
  static ofSystem(options: Omit<NameResolverOptions, 'hosts' | 'resolvConf' | 'servers'>): NameResolver {
    const readable = (path: string) => () => readFile(path, 'utf8').catch(() => ''); // absent says nothing
    return new NameResolver({
      ...options,
      hosts: readable('/etc/hosts'),
      resolvConf: readable('/etc/resolv.conf'),
    });
  }

  /**
   * @returns an IP address: the host itself where it is one; IPv4 before IPv6 where a name has both
   * @throws {NameLookupError} when there is none; the signal's reason when it aborts first
   */
  async resolve(host: string, signal: AbortSignal): Promise<string> {
    const [address = host] = await this.resolveAll(host, { signal });
    return address;
  }

  /** All addresses, one at least, IPv4 before IPv6. @throws as {@link resolve} */
  async resolveAll(host: string, { signal, tenant = '' }: ResolveOptions = {}): Promise<readonly string[]> {
    if (net.isIP(host) !== 0) return [host];
    signal?.throwIfAborted();
    const name = domainToASCII(host); // of `127.1` and its like the address
    if (net.isIP(name) !== 0) return [name];
    if (name === '' || name.length > MAX_NAME_LENGTH + 1) throw noSuchHost(host);
    const { addresses, error } = await this.#cache.getOrCompute(`${tenant} ${name}`, {
      compute: (unused) => this.#resultOf(name, tenant, unused),
      lifetimeMs: (outcome) => (outcome.error ? FAILED_TTL_MS : FOUND_TTL_MS),
      signal: signal && (() => signal),
    });
    if (error) throw error;
    return addresses;
  }

  /** All addresses, for the tenant that the current work is for. @throws as {@link resolve} */
  readonly findAddresses = async (host: string): Promise<readonly string[]> =>
    await this.resolveAll(host, { tenant: currentTenant() });

  /** @throws when the lookup did not begin, or no caller waits for it: that says nothing about the name */
  async #resultOf(name: string, tenant: string, unused: AbortSignal): Promise<Outcome> {
    using _permit = await this.#permit(name, tenant, unused);
    const channel = this.#open(tenant);
    try {
      return { addresses: await this.#lookUpInTime(name, channel.dns, unused) };
    } catch (error) {
      if (error instanceof NameLookupError) return { addresses: [], error };
      throw error;
    } finally {
      this.#release(tenant, channel);
    }
  }

  async #permit(name: string, tenant: string, signal: AbortSignal): Promise<Disposable> {
    const { clock, timeoutMs } = this.#options;
    const expired = () =>
      new NameLookupError(
        'DNS_BUSY',
        `"${name}" was not looked up within ${formatDuration(timeoutMs)}: other names of its namespace wait for DNS`,
      );
    using deadline = startDeadline(clock, timeoutMs, { signal, expired });
    return await this.#permits.acquire(tenant, deadline.signal);
  }

  /** The one that is in use, else a new one, which has the name servers of this moment. */
  #open(tenant: string): Channel {
    const channel = this.#channels.get(tenant) ?? {
      dns: new Resolver({ timeout: FIRST_TRY_MS, tries: TRIES }),
      users: 0,
    };
    if (channel.users === 0 && this.#options.servers) channel.dns.setServers(this.#options.servers);
    this.#channels.set(tenant, channel);
    channel.users++;
    return channel;
  }

  /** Ends queries without a response that no lookup waits for. */
  #release(tenant: string, channel: Channel): void {
    channel.users--;
    if (channel.users > 0) return;
    channel.dns.cancel();
    this.#channels.delete(tenant);
  }

  async #lookUpInTime(name: string, dns: Resolver, signal: AbortSignal): Promise<readonly string[]> {
    const { clock, timeoutMs } = this.#options;
    const expired = () =>
      new NameLookupError(
        'DNS_SILENT',
        `no response from DNS for "${name}" within ${formatDuration(timeoutMs)}`,
      );
    using deadline = startDeadline(clock, timeoutMs, { signal, expired });
    return await raceAbort(this.#lookUp(name, dns, deadline.signal), deadline.signal);
  }

  async #lookUp(host: string, dns: Resolver, signal: AbortSignal): Promise<readonly string[]> {
    const listed = findInHosts(await this.#options.hosts(), host);
    if (listed.length > 0) return listed.slice(0, MAX_ADDRESSES);
    for (const name of candidateNames(host, readSearch(await this.#options.resolvConf()))) {
      signal.throwIfAborted();
      const addresses = await this.#query(name, dns);
      if (addresses.length > 0) return addresses;
    }
    throw noSuchHost(host);
  }

  /** Queries both families at once. IPv4 addresses wait for the others only briefly: some name servers never respond to that. */
  async #query(name: string, dns: Resolver): Promise<readonly string[]> {
    const [ipv4, ipv6] = [outcomeOf(dns.resolve4(name)), outcomeOf(dns.resolve6(name))];
    const first = await ipv4;
    const second = await (first.addresses.length > 0 ? this.#briefly(ipv6) : ipv6);
    const addresses = [first, second].flatMap((outcome) => outcome.addresses.slice(0, MAX_ADDRESSES));
    const cause = first.error ?? second.error;
    if (addresses.length === 0 && cause)
      throw new NameLookupError('DNS_FAILED', `cannot look up "${name}": ${cause.code}`, { cause });
    return addresses;
  }

  async #briefly(outcome: Promise<QueryOutcome>): Promise<QueryOutcome> {
    const { promise, resolve } = Promise.withResolvers<QueryOutcome>();
    using _timer = this.#options.clock.startTimer(IPV6_DELAY_MS, () => resolve({ addresses: [] }));
    return await Promise.race([outcome, promise]);
  }
}

interface QueryOutcome {
  readonly addresses: readonly string[];
  readonly error?: NodeJS.ErrnoException;
}

async function outcomeOf(query: Promise<readonly string[]>): Promise<QueryOutcome> {
  try {
    return { addresses: await query };
  } catch (cause) {
    const error = cause as NodeJS.ErrnoException;
    return NOT_FOUND.has(error.code) ? { addresses: [] } : { addresses: [], error };
  }
}

function noSuchHost(host: string): NameLookupError {
  return new NameLookupError('DNS_NO_SUCH_HOST', `no such host: "${host.slice(0, MAX_NAME_LENGTH)}"`);
}
