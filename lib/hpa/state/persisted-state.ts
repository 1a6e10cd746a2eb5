import * as z from 'zod';
import type { HpaSpec, ScalingRules } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { parseJson } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { HpaConfig } from '../decision/decision-input.ts';
import {
  type HpaMemory,
  isBeforeWindow,
  type Recommendation,
  type ScaleEvent,
} from '../decision/scaling-state.ts';

/**
 * As much of an HPA's memory as later decisions can depend on: of recommendations, those that are the highest or the
 * lowest of all that came after them.
 */
export interface KeptMemory {
  /** Earlier ones, by age, each as of the last time that it was recommended. */
  readonly recommendations: readonly Recommendation[];
  /** What is being recommended; it goes on being so, without being written each time. */
  readonly latest: Recommendation | undefined;
  readonly scaleUpEvents: readonly ScaleEvent[];
  readonly scaleDownEvents: readonly ScaleEvent[];
}

/** For how long an HPA's rules look back. */
export interface KeptWindows {
  readonly scaleUpWindowMs: number;
  readonly scaleDownWindowMs: number;
  readonly scaleUpPeriodMs: number;
  readonly scaleDownPeriodMs: number;
}

/** How far back the rules of an HPA look. */
export function keptWindows({ behavior }: HpaSpec, config: HpaConfig): KeptWindows {
  const { scaleUp, scaleDown } = behavior ?? {};
  const downSeconds = scaleDown?.stabilizationWindowSeconds;
  return {
    scaleUpWindowMs: (scaleUp?.stabilizationWindowSeconds ?? 0) * 1000,
    scaleDownWindowMs: downSeconds === undefined ? config.downscaleStabilizationMs : downSeconds * 1000,
    scaleUpPeriodMs: longestPeriodMs(scaleUp, scaleDown),
    scaleDownPeriodMs: longestPeriodMs(scaleUp, scaleDown),
  };
}

/** Reduces a memory to what later decisions can depend on. */
export function keptMemory(memory: HpaMemory, windows: KeptWindows, nowMs: number): KeptMemory {
  const byAge = [...memory.recommendations].sort((one, other) => one.atMs - other.atMs);
  const latest = byAge.pop();
  return {
    recommendations: latest ? extremes([...byAge, latest], windows, nowMs).slice(0, -1) : [],
    latest,
    scaleUpEvents: within(memory.scaleUpEvents, windows.scaleUpPeriodMs, nowMs),
    scaleDownEvents: within(memory.scaleDownEvents, windows.scaleDownPeriodMs, nowMs),
  };
}

/**
 * Makes a memory of what was kept.
 *
 * @param latestUntilMs when the latest recommendation was last made, as far as anybody can tell
 */
export function restoredMemory(kept: KeptMemory, latestUntilMs: number): HpaMemory {
  const { recommendations, latest, scaleUpEvents, scaleDownEvents } = kept;
  const last = latest && { ...latest, atMs: Math.max(latest.atMs, latestUntilMs) };
  return {
    recommendations: last ? [...recommendations, last] : recommendations,
    scaleUpEvents,
    scaleDownEvents,
  };
}

/** Whether what was kept no longer says what a memory does; what has become too old by itself is no difference. */
export function isOutdated(
  kept: KeptMemory,
  memory: KeptMemory,
  windows: KeptWindows,
  nowMs: number,
): boolean {
  const before = keptMemory(restoredMemory(kept, memory.latest?.atMs ?? nowMs), windows, nowMs);
  return (
    before.latest?.replicas !== memory.latest?.replicas ||
    !isEqual(before.recommendations, memory.recommendations) ||
    !isEqual(before.scaleUpEvents, memory.scaleUpEvents) ||
    !isEqual(before.scaleDownEvents, memory.scaleDownEvents)
  );
}

/** By age, those that are higher, or lower, than all later ones; the last is one of them. */
function extremes(byAge: readonly Recommendation[], windows: KeptWindows, nowMs: number): Recommendation[] {
  const { scaleUpWindowMs, scaleDownWindowMs } = windows;
  const kept: Recommendation[] = [];
  let highest = Number.NEGATIVE_INFINITY;
  let lowest = Number.POSITIVE_INFINITY;
  for (const one of byAge.toReversed()) {
    const isLast = kept.length === 0;
    const isOld =
      isBeforeWindow(one.atMs, scaleUpWindowMs, nowMs) && isBeforeWindow(one.atMs, scaleDownWindowMs, nowMs);
    if (isOld && !isLast) break;
    if (one.replicas > highest || one.replicas < lowest) kept.push(one);
    highest = Math.max(highest, one.replicas);
    lowest = Math.min(lowest, one.replicas);
  }
  return kept.reverse();
}

/** Both directions' policies count changes both ways. */
function longestPeriodMs(...rules: readonly (ScalingRules | undefined)[]): number {
  const periods = rules.flatMap((one) => one?.policies ?? []).map(({ periodSeconds }) => periodSeconds);
  return Math.max(0, ...periods) * 1000;
}

function within(events: readonly ScaleEvent[], periodMs: number, nowMs: number): readonly ScaleEvent[] {
  return events.filter(({ atMs }) => atMs > nowMs - periodMs).sort((one, other) => one.atMs - other.atMs);
}

function isEqual<Entry extends object>(some: readonly Entry[], others: readonly Entry[]): boolean {
  return JSON.stringify(some) === JSON.stringify(others);
}

/** What is kept of one HPA. */
export interface MemoryRecord extends KeptMemory {
  /** Of the HPA: one that was made again under its name remembers nothing. */
  readonly uid: string;
  /** A scaling that was about to be written; whether it was, the scale tells. */
  readonly intent?: ScaleIntent | undefined;
}

/** A change of the scale that is about to be written. */
export interface ScaleIntent {
  readonly from: number;
  readonly to: number;
  readonly atMs: number;
}

const count = z.int();
const atMs = z.number().nonnegative();
const entries = z.array(z.tuple([count, atMs])).max(4096);
const RECORD = z.object({
  uid: z.string(),
  recommendations: entries,
  latest: z.tuple([count, atMs]).optional(),
  scaleUps: entries.optional(),
  scaleDowns: entries.optional(),
  intent: z.tuple([count, count, atMs]).optional(),
});

/** A longer text is nobody's record. */
const LONGEST_RECORD = 256 * 1024;

/** Writes a record as text. */
export function formatRecord({ uid, recommendations, latest, intent, ...events }: MemoryRecord): string {
  const { scaleUpEvents, scaleDownEvents } = events;
  return JSON.stringify({
    uid,
    recommendations: recommendations.map((one) => [one.replicas, one.atMs]),
    ...(latest && { latest: [latest.replicas, latest.atMs] }),
    ...(scaleUpEvents.length > 0 && { scaleUps: scaleUpEvents.map(entryOf) }),
    ...(scaleDownEvents.length > 0 && { scaleDowns: scaleDownEvents.map(entryOf) }),
    ...(intent && { intent: [intent.from, intent.to, intent.atMs] }),
  });
}

/** Reads a record; `undefined` for what is none. */
export function parseRecord(text: string): MemoryRecord | undefined {
  if (text.length > LONGEST_RECORD) return undefined;
  const read = RECORD.safeParse(parseJson(text));
  if (!read.success) return undefined;
  const { uid, recommendations, latest, scaleUps = [], scaleDowns = [], intent } = read.data;
  const recommendation = ([replicas, at]: readonly [number, number]) => ({ replicas, atMs: at });
  const event = ([change, at]: readonly [number, number]) => ({ change, atMs: at });
  return {
    uid,
    recommendations: recommendations.map(recommendation),
    latest: latest && recommendation(latest),
    scaleUpEvents: scaleUps.map(event),
    scaleDownEvents: scaleDowns.map(event),
    ...(intent && { intent: { from: intent[0], to: intent[1], atMs: intent[2] } }),
  };
}

/** What was kept, with the scaling that was about to be written as one that was. */
export function withIntent({ intent, ...kept }: MemoryRecord): KeptMemory {
  if (!intent) return kept;
  const event: ScaleEvent = { change: Math.abs(intent.to - intent.from), atMs: intent.atMs };
  return intent.to > intent.from
    ? { ...kept, scaleUpEvents: [...kept.scaleUpEvents, event] }
    : { ...kept, scaleDownEvents: [...kept.scaleDownEvents, event] };
}

function entryOf({ change, atMs: at }: ScaleEvent): readonly [number, number] {
  return [change, at];
}
