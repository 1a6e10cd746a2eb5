import { ManualClock } from '#spec/support/manual-clock.ts';
import { DayOfEvents } from './day-of-events.ts';
import { Dice } from './dice.ts';
import { type Observations, Observer } from './observer.ts';
import { DEFAULTS, Pipeline } from './pipeline.ts';
import { SocketlessCluster } from './socketless-cluster.ts';

/** Size of the simulation. */
export interface DaySize {
  readonly seed: number;
  readonly nodes: number;
  readonly podsPerNode: number;
  readonly hours: number;
  /** Event rate, as a multiple of a bad day's. */
  readonly pace: number;
}

export interface DayResult extends Observations {
  readonly size: DaySize;
  /** Number of events by name. */
  readonly events: ReadonlyMap<string, number>;
}

const HOUR_MS = 3_600_000;
/** As the manifests have it. */
export const RESOLUTION_MS = 15_000;
/** By the first observation of a cycle, all have responded or failed; the second is right before the next cycle. */
const OBSERVED_AT_MS = [12_500, 14_900];

/** Simulates a day and compares all served values with the actual usage, twice per cycle. */
export async function runDay(size: DaySize): Promise<DayResult> {
  const clock = new ManualClock();
  const cluster = new SocketlessCluster(clock);
  const day = new DayOfEvents({
    clock,
    dice: new Dice(size.seed),
    cluster,
    resolutionMs: RESOLUTION_MS,
    ...size,
  });
  const observer = new Observer(cluster, RESOLUTION_MS);
  const jitter = new Dice(size.seed + 1);
  await using pipeline = new Pipeline(cluster, {
    ...DEFAULTS,
    resolutionMs: RESOLUTION_MS,
    stalenessMs: RESOLUTION_MS + DEFAULTS.requestTimeoutMs,
    random: () => jitter.fraction(),
    onScraped: (outcome) => observer.noteScrape(outcome),
  });
  for (const observedAtMs of checks(size.hours * HOUR_MS)) {
    for (let nextMs = day.nextMs; nextMs <= observedAtMs; nextMs = day.nextMs) {
      await clock.advance(nextMs - clock.monotonicMs());
      day.proceed();
    }
    await clock.advance(observedAtMs - clock.monotonicMs());
    observer.check(pipeline);
  }
  return { size, events: day.counts, ...observer.result() };
}

/** Cycles begin at 0, at 12 s, and at every resolution after that. */
function* checks(untilMs: number): Generator<number> {
  for (let cycleMs = 12_000; cycleMs < untilMs; cycleMs += RESOLUTION_MS) {
    for (const afterMs of OBSERVED_AT_MS) yield cycleMs + afterMs;
  }
}
