import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import net from 'node:net';
import { domainToASCII } from 'node:url';
import { ExpiringCache } from '#lib/cache/expiring-cache.ts';
import { FairSemaphore } from '#lib/concurrency/semaphore.ts';
import { currentTenant } from '#lib/concurrency/tenant.ts';
import type { TokenBucketOptions } from '#lib/concurrency/token-bucket.ts';
import { TokenBuckets } from '#lib/concurrency/token-buckets.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { formatDuration } from '#lib/time/duration.ts';
import { candidateNames, findInHosts, MAX_NAME_LENGTH, readSearch } from './resolver-files.ts';

/** Lifetime of found addresses, regardless of the TTL of their records. */
const FOUND_TTL_MS = 30_000;
/** Lifetime of a failure; shorter, since a new name may appear at any moment. */
const FAILED_TTL_MS = 10_000;
/** Results in the cache; the least recently used is evicted first. */
const MAX_CACHED = 10_000;
/** Per address family. */
const MAX_ADDRESSES = 32;

/** Timeout of the first try; doubles with each retry. */
const FIRST_TRY_MS = 500;
const TRIES = 4;
/** How long a lookup with IPv4 addresses waits for IPv6 addresses, as in RFC 8305. */
const IPV6_DELAY_MS = 50;
/** c-ares codes for a name without addresses of a family, and for an unknown name. */
const NOT_FOUND: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

interface NameResolverOptions {
  readonly clock: Clock;
  /** Limit of one lookup, and of the wait before it starts. */
  readonly timeoutMs: number;
  /** Contents of `/etc/hosts`; read again for each lookup that is not cached. */
  readonly hosts: () => Promise<string>;
  /** Contents of `/etc/resolv.conf`, for its search list and `ndots`. */
  readonly resolvConf: () => Promise<string>;
  /** DNS servers as `address:port`; by default those of the machine. */
  readonly servers?: readonly string[];
  /** Concurrent lookups, shared fairly by tenants; unlimited by default. */
  readonly maxConcurrent?: number;
  /**
   * Lookups that one tenant may start; by default unlimited, as those of the program itself are. c-ares takes up to 20
   * ms of the event loop for the answers to one, which have 64 KiB each.
   */
  readonly tenantRate?: Pick<TokenBucketOptions, 'perSecond' | 'burst'>;
}

interface ResolveOptions {
  /** Cancels the wait, but not a lookup that other callers wait for. */
  readonly signal?: AbortSignal | undefined;
  /** A namespace; empty for the program itself. */
  readonly tenant?: string | undefined;
}

interface Outcome {
  readonly addresses: readonly string[];
  readonly error?: NameLookupError;
}

/** The queries in flight of one tenant. */
interface Channel {
  readonly dns: Resolver;
  users: number;
}

/**
 * Resolves host names without blocking other lookups.
 *
 * Node's own `dns.lookup` blocks one of a few threads until the name server responds, so a few slow names stall all
 * lookups. This class queries by c-ares and reads the hosts file and the search list itself, as Go does. Tenants
 * share neither results nor queries, so one tenant's name servers do not affect another.
 */
export class NameResolver {
  readonly #options: NameResolverOptions;
  readonly #cache: ExpiringCache<Outcome>;
  readonly #permits: FairSemaphore;
  readonly #rates: TokenBuckets | undefined;
  readonly #channels = new Map<string, Channel>();

  constructor(options: NameResolverOptions) {
    this.#options = options;
    this.#cache = new ExpiringCache({ clock: options.clock, maxEntries: MAX_CACHED });
    this.#permits = new FairSemaphore(options.maxConcurrent ?? Number.POSITIVE_INFINITY);
    const { clock, tenantRate } = options;
    this.#rates = tenantRate && new TokenBuckets({ clock, ...tenantRate });
  }

  /** Uses the files and name servers of this machine. */
  static ofSystem(options: Omit<NameResolverOptions, 'hosts' | 'resolvConf' | 'servers'>): NameResolver {
    const readable = (path: string) => () => readFile(path, 'utf8').catch(() => ''); // absent means empty
    return new NameResolver({
      ...options,
      hosts: readable('/etc/hosts'),
      resolvConf: readable('/etc/resolv.conf'),
    });
  }

  /**
   * @returns an IP address, IPv4 if the name has both; the host itself if it is an address
   * @throws {NameLookupError} if there is none; the signal's reason if it aborts first
   */
  async resolve(host: string, signal: AbortSignal): Promise<string> {
    const [address = host] = await this.resolveAll(host, { signal });
    return address;
  }

  /** Returns at least one address, IPv4 before IPv6. @throws as {@link resolve} */
  async resolveAll(host: string, { signal, tenant = '' }: ResolveOptions = {}): Promise<readonly string[]> {
    if (net.isIP(host) !== 0) return [host];
    signal?.throwIfAborted();
    const name = domainToASCII(host); // normalizes `127.1` and the like to an address
    if (net.isIP(name) !== 0) return [name];
    if (name === '' || name.length > MAX_NAME_LENGTH + 1) throw noSuchHost(host);
    const { addresses, error } = await this.#cache.getOrCompute(`${tenant} ${name}`, {
      compute: (unused) => this.#lookUpForTenant(name, tenant, unused),
      lifetimeMs: (outcome) => (outcome.error ? FAILED_TTL_MS : FOUND_TTL_MS),
      signal: signal && (() => signal),
    });
    if (error) throw error;
    return addresses;
  }

  /** Returns all addresses, for the tenant of the current work. @throws as {@link resolve} */
  readonly findAddresses = async (host: string): Promise<readonly string[]> =>
    await this.resolveAll(host, { tenant: currentTenant() });

  /** @throws if the lookup did not start or has no more waiters, not a finite number to cache */
  async #lookUpForTenant(name: string, tenant: string, unused: AbortSignal): Promise<Outcome> {
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
        `cannot look up "${name}" within ${formatDuration(timeoutMs)}: other lookups of its namespace are waiting for DNS`,
      );
    using deadline = startDeadline(clock, timeoutMs, { signal, expired });
    if (tenant !== '') await this.#rates?.get(tenant).take(deadline.signal);
    return await this.#permits.acquire(tenant, deadline.signal);
  }

  /** Reuses the channel in use, or opens one with the current name servers. */
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

  /** Cancels queries in flight that no lookup waits for. */
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

  /**
   * Queries both families at once. With IPv4 addresses it waits only briefly for IPv6, which some servers never
   * answer.
   */
  async #query(name: string, dns: Resolver): Promise<readonly string[]> {
    const [ipv4, ipv6] = [settleQuery(dns.resolve4(name)), settleQuery(dns.resolve6(name))];
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

/**
 * Respectively: the name does not exist, DNS does not respond in time, DNS fails, the tenant's share of queries is
 * used up.
 */
export type NameLookupCode = 'DNS_NO_SUCH_HOST' | 'DNS_SILENT' | 'DNS_FAILED' | 'DNS_BUSY';

export class NameLookupError extends Error {
  readonly code: NameLookupCode;

  constructor(code: NameLookupCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

interface QueryOutcome {
  readonly addresses: readonly string[];
  readonly error?: NodeJS.ErrnoException;
}

async function settleQuery(query: Promise<readonly string[]>): Promise<QueryOutcome> {
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
