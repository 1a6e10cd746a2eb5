import type { MeasuredUsage } from '#lib/resource-metrics/sink/snapshot.ts';
import type { ClockSetting, NodeClock } from '#simulator/machine/node-clock.ts';
import type { EndpointKind } from './socketless-node.ts';

/** What really happened to a container or a node. */
export interface TrueCourse {
  readonly clock: NodeClock;
  readonly endpoint: EndpointKind;
  /** CPU time used by a moment, in core-nanoseconds. */
  coreNanoseconds(atMs: number): number;
  /** Working set at a moment. */
  memoryBytes(atMs: number): number;
}

/** What became of comparing a value with the truth over its own window. */
export interface Judgement {
  /** Of the CPU value; what uses less than a millicore counts as using one. */
  readonly relativeError: number;
  /** Whether it lies between what the fineness of its stamps allows at least and at most. */
  readonly isWithinStamps: boolean;
  readonly isTrueMemory: boolean;
  /** How far the kubelet's clock was stepped within the window, in all; 0 where it was not. */
  readonly steppedMs: number;
  /** The moment that the value tells of. */
  readonly momentMs: number;
}

/** How much later than its stamp says a sample may have been taken. */
export const FINENESS_MS: Readonly<Record<EndpointKind, number>> = { summary: 1000, resource: 1 };

const MILLICORE_NANOCORES = 1e6;
/** The exposition tells starts in seconds since the epoch, of which a double holds a quarter of a microsecond. */
const START_FINENESS_MS = 0.001;
/** A value is rounded down to a nanocore, and doubles lose some of a long life's nanoseconds. */
const toleranceOf = (nanocores: number) => 10 + nanocores / 1e6;

/** Where within a stamp's fineness memory is looked for: it changes at moments, of which there are few in a second. */
const LOOKS = [0, 1, ...Array.from({ length: 99 }, (_, index) => (index + 1) / 100)];

/**
 * Compares a value with the truth over the window that it claims, by its kubelet's clock.
 *
 * @returns `undefined` where that clock has never shown the timestamp
 */
export function judge(value: MeasuredUsage, course: TrueCourse): Judgement | undefined {
  const { clock, endpoint } = course;
  const finenessMs = FINENESS_MS[endpoint];
  const traced = clock.trace(value.timestampMs, finenessMs);
  if (!traced) return undefined;
  const { momentMs: toMs } = traced;
  const fromMs = toMs - value.windowMs;
  const rate = (used: number) => used / (value.windowMs / 1000);
  const [began, ended] = [course.coreNanoseconds(fromMs), course.coreNanoseconds(toMs)];
  const least = rate(ended - course.coreNanoseconds(fromMs + finenessMs));
  const most = rate(
    course.coreNanoseconds(toMs + finenessMs) - course.coreNanoseconds(fromMs - START_FINENESS_MS),
  );
  const truth = rate(ended - began);
  const { cpuNanocores, memoryBytes } = value;
  const tolerance = toleranceOf(most);
  return {
    relativeError: Math.abs(cpuNanocores - truth) / Math.max(truth, MILLICORE_NANOCORES),
    isWithinStamps: cpuNanocores >= least - tolerance && cpuNanocores <= most + tolerance,
    isTrueMemory: LOOKS.some((share) => course.memoryBytes(toMs + share * finenessMs) === memoryBytes),
    steppedMs: steppedBetween(clock, { fromMs, setting: traced.setting }),
    momentMs: toMs,
  };
}

/** Steps of this and more are told from the age of samples; smaller ones can't be. */
export const MIN_REPORTED_STEP_MS = 60_000;

/** A small step back hides so much of the window that it may seem to begin after the step. */
function steppedBetween(
  { settings }: NodeClock,
  { fromMs, setting }: { readonly fromMs: number; readonly setting: ClockSetting },
): number {
  let steppedMs = 0;
  for (const [index, { sinceMs, skewMs }] of settings.entries()) {
    const byMs = skewMs - (settings[index - 1]?.skewMs ?? skewMs);
    const hiddenMs = byMs > -MIN_REPORTED_STEP_MS ? Math.max(0, -byMs) : 0;
    if (sinceMs > fromMs - hiddenMs && sinceMs <= setting.sinceMs) steppedMs += Math.abs(byMs);
  }
  return steppedMs;
}
