import type { MeasuredUsage } from '#lib/resource-metrics/sink/snapshot.ts';
import type { NodeClock } from '#simulator/kubelet/node-clock.ts';
import type { EndpointKind } from './socketless-node.ts';

/** The actual usage of a container or a node over time. */
export interface TrueCourse {
  readonly clock: NodeClock;
  readonly endpoint: EndpointKind;
  /** Moments at which it was sampled or started, by the monotonic clock. */
  readonly sampledAtMs: readonly number[];
  /** CPU time used up to a moment, in core-nanoseconds. */
  coreNanoseconds(atMs: number): number;
  /** Working set at a moment. */
  memoryBytes(atMs: number): number;
}

/** The comparison of a value with the actual usage between the two samples that it was computed from. */
export interface Judgement {
  /** Error of the CPU value, relative to the actual usage or to one millicore, whichever is more. */
  readonly relativeError: number;
  /** Whether the stated window is as close to the actual one as the resolution of timestamps permits. */
  readonly isWithinStamps: boolean;
  readonly isTrueMemory: boolean;
  /** Total steps of the kubelet's clock within the window; 0 without any. */
  readonly steppedMs: number;
  /** When the later sample was taken. */
  readonly momentMs: number;
}

/** How much later than its timestamp a sample may have been taken. */
const FINENESS_MS: Readonly<Record<EndpointKind, number>> = { summary: 1000, resource: 1 };

const MILLICORE_NANOCORES = 1e6;

/** A window has whole milliseconds, and a stamp of the exposition is cut to them. */
const WINDOW_TOLERANCE_MS = 2;

/** A value is rounded down to a nanocore, and doubles lose nanoseconds of a long-running counter. */
const toleranceOf = (nanocores: number) => 10 + nanocores / 1e6;

/**
 * Compares a value with the actual usage between the two samples that it was computed from. These are found by the
 * timestamp, and by the CPU time that was used between them.
 *
 * @returns `undefined` if no two samples explain the value
 */
export function judge(value: MeasuredUsage, course: TrueCourse): Judgement | undefined {
  for (const toMs of samplesAt(value.timestampMs, course)) {
    const fromMs = findEarlier(value, toMs, course);
    if (fromMs !== undefined) return compare(value, { fromMs, toMs, course });
  }
  return undefined;
}

/** @returns the moments of samples with a timestamp, latest first; several after a step back of the clock */
export function samplesAt(
  timestampMs: number,
  { clock, endpoint, sampledAtMs }: TrueCourse,
): readonly number[] {
  const finenessMs = FINENESS_MS[endpoint];
  const hasStamp = (moment: number) =>
    Math.floor(clock.stampMs(moment) / finenessMs) * finenessMs === timestampMs;
  return sampledAtMs.filter(hasStamp).toReversed();
}

function findEarlier(
  { cpuNanocores, windowMs }: MeasuredUsage,
  toMs: number,
  { sampledAtMs, coreNanoseconds }: TrueCourse,
): number | undefined {
  const isExplained = (moment: number) => {
    const nanocores = (coreNanoseconds(toMs) - coreNanoseconds(moment)) / (windowMs / 1000);
    return moment < toMs && Math.abs(nanocores - cpuNanocores) <= toleranceOf(nanocores);
  };
  const lengthError = (moment: number) => Math.abs(toMs - moment - windowMs);
  const explanations = sampledAtMs.filter(isExplained);
  return explanations.sort((one, other) => lengthError(one) - lengthError(other))[0];
}

/** @param times the two samples */
export function compare(
  { cpuNanocores, memoryBytes, windowMs }: MeasuredUsage,
  { fromMs, toMs, course }: { readonly fromMs: number; readonly toMs: number; readonly course: TrueCourse },
): Judgement {
  const used = course.coreNanoseconds(toMs) - course.coreNanoseconds(fromMs);
  const truth = used / ((toMs - fromMs) / 1000);
  const windowErrorMs = Math.abs(toMs - fromMs - windowMs);
  return {
    relativeError: Math.abs(cpuNanocores - truth) / Math.max(truth, MILLICORE_NANOCORES),
    isWithinStamps: windowErrorMs <= FINENESS_MS[course.endpoint] + WINDOW_TOLERANCE_MS,
    isTrueMemory: course.memoryBytes(toMs) === memoryBytes,
    steppedMs: steppedBetween(course.clock, fromMs, toMs),
    momentMs: toMs,
  };
}

/** Larger steps are detected from the age of samples; smaller ones cannot be. */
export const MIN_REPORTED_STEP_MS = 60_000;

function steppedBetween({ settings }: NodeClock, fromMs: number, toMs: number): number {
  let steppedMs = 0;
  for (const [index, { sinceMs, skewMs }] of settings.entries()) {
    const byMs = skewMs - (settings[index - 1]?.skewMs ?? skewMs);
    if (sinceMs > fromMs && sinceMs <= toMs) steppedMs += Math.abs(byMs);
  }
  return steppedMs;
}
