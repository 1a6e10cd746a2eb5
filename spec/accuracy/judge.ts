import type { MeasuredUsage } from '#lib/resource-metrics/sink/snapshot.ts';
import type { ClockSetting, NodeClock } from '#simulator/kubelet/node-clock.ts';
import type { EndpointKind } from './socketless-node.ts';

/** The actual usage of a container or a node over time. */
export interface TrueCourse {
  readonly clock: NodeClock;
  readonly endpoint: EndpointKind;
  /** CPU time used up to a time, in core-nanoseconds. */
  coreNanoseconds(atMs: number): number;
  /** Working set at a time. */
  memoryBytes(atMs: number): number;
}

/** The comparison of a value with the actual usage over the value's own window. */
export interface Judgement {
  /** Error of the CPU value, relative to the actual usage or to one millicore, whichever is more. */
  readonly relativeError: number;
  /** Whether the value is between the minimum and the maximum that the resolution of its timestamps permits. */
  readonly isWithinStamps: boolean;
  readonly isTrueMemory: boolean;
  /** Total steps of the kubelet's clock within the window; 0 without any. */
  readonly steppedMs: number;
  /** The time to which the value refers. */
  readonly momentMs: number;
}

/** How much later than its timestamp a sample may have been taken. */
export const FINENESS_MS: Readonly<Record<EndpointKind, number>> = { summary: 1000, resource: 1 };

const MILLICORE_NANOCORES = 1e6;
/** The exposition has start times in seconds since the epoch; a double resolves a quarter of a microsecond of them. */
const START_FINENESS_MS = 0.001;
/** A value is rounded down to a nanocore, and doubles lose nanoseconds of a long-running counter. */
const toleranceOf = (nanocores: number) => 10 + nanocores / 1e6;

/** Times within a timestamp's resolution at which memory is compared: memory changes only a few times in a second. */
const CHECKS = [0, 1, ...Array.from({ length: 99 }, (_, index) => (index + 1) / 100)];

/**
 * Compares a value with the actual usage over the window that it states, by its kubelet's clock.
 *
 * @returns `undefined` if that clock has never shown the timestamp
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
  const min = rate(ended - course.coreNanoseconds(fromMs + finenessMs));
  const max = rate(
    course.coreNanoseconds(toMs + finenessMs) - course.coreNanoseconds(fromMs - START_FINENESS_MS),
  );
  const truth = rate(ended - began);
  const { cpuNanocores, memoryBytes } = value;
  const tolerance = toleranceOf(max);
  return {
    relativeError: Math.abs(cpuNanocores - truth) / Math.max(truth, MILLICORE_NANOCORES),
    isWithinStamps: cpuNanocores >= min - tolerance && cpuNanocores <= max + tolerance,
    isTrueMemory: CHECKS.some((share) => course.memoryBytes(toMs + share * finenessMs) === memoryBytes),
    steppedMs: steppedBetween(clock, { fromMs, setting: traced.setting }),
    momentMs: toMs,
  };
}

/** Larger steps are detected from the age of samples; smaller ones cannot be. */
export const MIN_REPORTED_STEP_MS = 60_000;

/** A small step back shortens the window, which may then seem to begin after the step. */
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
