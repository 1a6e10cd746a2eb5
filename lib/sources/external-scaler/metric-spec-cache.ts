import { LruMap } from '#lib/cache/lru-map.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import { startDeadline } from '#lib/time/deadline.ts';
import { digest } from '../query.ts';
import { type ExternalScalers, serverKey } from './external-scalers.ts';
import type { ScaledObjectRef, ScalerMetric } from './messages.ts';
import type { ScalerServer } from './scaler-channel.ts';

interface Entry {
  metrics: readonly ScalerMetric[] | undefined;
  pending: Promise<readonly ScalerMetric[]> | undefined;
  /** Whether the last request took longer than anybody waits for one. */
  isSlow: boolean;
}

/** How long one request may take. */
const TIMEOUT_MS = 5000;
/** How long anybody waits for it: others are planned by the same workers. */
const MAX_WAIT_MS = 1000;
/** Of all objects, in metrics, for one object may have a hundred: those that were asked for the longest ago are forgotten. */
const MAX_METRICS = 10_000;

/**
 * What scalers count for objects, as they told last: a scaler that is down has failing metrics, not none, and one that hangs
 * holds nobody for longer than a second, once.
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

  /** @throws what the scaler fails by while it has never told */
  async get(
    server: ScalerServer,
    object: ScaledObjectRef,
    signal: AbortSignal,
  ): Promise<readonly ScalerMetric[]> {
    const key = digest([serverKey(server), object]);
    const known = this.#entries.getOrSet(key, () => ({
      metrics: undefined,
      pending: undefined,
      isSlow: false,
    }));
    known.pending ??= this.#request(key, known, { server, object });
    const wait = new AbortController();
    const slow = () => {
      known.isSlow = true;
      wait.abort(new Error(`${server.host}:${server.port} has not told its metrics yet`));
    };
    using _patience = this.#clock.startTimer(known.isSlow ? 0 : MAX_WAIT_MS, slow);
    try {
      return await raceAbort(raceAbort(known.pending, wait.signal), signal);
    } catch (error) {
      if (signal.aborted || !known.metrics) throw error;
      return known.metrics;
    }
  }

  /** Goes on when nobody waits any more: the next one finds what it told. */
  async #request(
    key: string,
    known: Entry,
    { server, object }: { readonly server: ScalerServer; readonly object: ScaledObjectRef },
  ): Promise<readonly ScalerMetric[]> {
    const startedAtMs = this.#clock.monotonicMs();
    const expired = () => new Error(`no response within ${TIMEOUT_MS / 1000}s`);
    using deadline = startDeadline(this.#clock, TIMEOUT_MS, { expired });
    try {
      known.metrics = await this.#scalers.metrics(server, object, deadline.signal);
      this.#entries.set(key, known);
      return known.metrics;
    } finally {
      known.pending = undefined;
      if (this.#clock.monotonicMs() - startedAtMs < MAX_WAIT_MS) known.isSlow = false;
    }
  }
}
