import { ManualClock } from '#spec/support/manual-clock.ts';
import { DayOfEvents } from './day-of-events.ts';
import { Dice } from './dice.ts';
import { type Observations, Observer } from './observer.ts';
import { DEFAULTS, Pipeline } from './pipeline.ts';
import { SocketlessCluster } from './socketless-cluster.ts';

/** How much there is to judge. */
export interface DaySize {
  readonly seed: number;
  readonly nodes: number;
  readonly podsPerNode: number;
  readonly hours: number;
  /** How many times as much happens as on a bad day. */
  readonly pace: number;
}

/** What a day was like. */
export interface DayResult extends Observations {
  readonly size: DaySize;
  /** How often what happened. */
  readonly events: ReadonlyMap<string, number>;
}

const HOUR_MS = 3_600_000;
/** In a cycle, all have responded or failed by the first look; the second is right before the next cycle. */
const LOOKS_AT_MS = [30_000, 59_900];

/** Lets a day pass, and compares everything that is served, twice a cycle, with the truth. */
export async function runDay(size: DaySize): Promise<DayResult> {
  const clock = new ManualClock();
  const cluster = new SocketlessCluster(clock);
  const day = new DayOfEvents({ clock, dice: new Dice(size.seed), cluster, ...size });
  const observer = new Observer(cluster);
  const jitter = new Dice(size.seed + 1);
  await using pipeline = new Pipeline(cluster, {
    ...DEFAULTS,
    random: () => jitter.fraction(),
    onScraped: (outcome) => observer.noteScrape(outcome),
  });
  for (const lookMs of looks(size.hours * HOUR_MS)) {
    for (let nextMs = day.nextMs; nextMs <= lookMs; nextMs = day.nextMs) {
      await clock.advance(nextMs - clock.monotonicMs());
      day.proceed();
    }
    await clock.advance(lookMs - clock.monotonicMs());
    observer.look(pipeline);
  }
  return { size, events: day.counts, ...observer.result() };
}

/** Cycles begin at 0, at 12 s and every resolution from there on. */
function* looks(untilMs: number): Generator<number> {
  for (let cycleMs = 12_000; cycleMs < untilMs; cycleMs += DEFAULTS.resolutionMs) {
    for (const afterMs of LOOKS_AT_MS) yield cycleMs + afterMs;
  }
}
