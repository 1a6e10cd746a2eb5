import { LruMap } from '#lib/cache/lru-map.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import type { SourceServer } from '../network/tls.ts';
import { digest } from '../query.ts';
import { type ExternalScalers, serverKey } from './external-scalers.ts';
import type { ScaledObjectRef, ScalerMetric } from './messages.ts';

interface Entry {
  metrics: readonly ScalerMetric[] | undefined;
  pending: Promise<readonly ScalerMetric[]> | undefined;
  /** Whether the last request took longer than {@link MAX_WAIT_MS}. */
  isSlow: boolean;
}

/** Timeout of one request. */
const TIMEOUT_MS = 5000;
/** Maximum time that a caller waits for a request, since callers occupy the workers of a controller. */
const MAX_WAIT_MS = 1000;
/** Cached metrics of all objects; one object may have a hundred. */
const MAX_METRICS = 10_000;

/**
 * Caches the last metrics that scalers returned for objects, so that a scaler that is down has failing metrics instead
 * of none, and one that hangs delays a caller for at most one second, once.
 */
export class MetricSpecCache {
  readonly #scalers: Pick<ExternalScalers, 'metrics'>;
  readonly #clock: Clock;
  readonly #entries = new LruMap<string, Entry>({
    max: MAX_METRICS,
    weigh: ({ metrics }) => Math.max(1, metrics?.length ?? 0),
  });

  constructor(scalers: Pick<ExternalScalers, 'metrics'>, { clock }: { readonly clock: Clock }) {
    this.#scalers = scalers;
    this.#clock = clock;
  }

  /** @throws the error of the scaler, unless it has returned metrics before */
  async get(
    server: SourceServer,
    object: ScaledObjectRef,
    signal: AbortSignal,
  ): Promise<readonly ScalerMetric[]> {
    const key = digest([serverKey(server), object]);
    const entry = this.#entries.getOrSet(key, () => ({
      metrics: undefined,
      pending: undefined,
      isSlow: false,
    }));
    entry.pending ??= this.#request(key, entry, { server, object });
    const wait = new AbortController();
    const slow = () => {
      entry.isSlow = true;
      wait.abort(new Error(`${server.host}:${server.port} has not returned its metrics yet`));
    };
    using _maxWait = this.#clock.startTimer(entry.isSlow ? 0 : MAX_WAIT_MS, slow);
    try {
      return await raceAbort(raceAbort(entry.pending, wait.signal), signal);
    } catch (error) {
      if (signal.aborted || !entry.metrics) throw error;
      return entry.metrics;
    }
  }

  /** Continues without waiting callers; the next caller finds the result. */
  async #request(
    key: string,
    entry: Entry,
    { server, object }: { readonly server: SourceServer; readonly object: ScaledObjectRef },
  ): Promise<readonly ScalerMetric[]> {
    const startedAtMs = this.#clock.monotonicMs();
    const expired = () => new Error(`no response within ${TIMEOUT_MS / 1000}s`);
    using deadline = startDeadline(this.#clock, TIMEOUT_MS, { expired });
    try {
      entry.metrics = await this.#scalers.metrics(server, object, deadline.signal);
      this.#entries.set(key, entry);
      return entry.metrics;
    } finally {
      entry.pending = undefined;
      if (this.#clock.monotonicMs() - startedAtMs < MAX_WAIT_MS) entry.isSlow = false;
    }
  }
}
