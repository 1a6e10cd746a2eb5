import * as z from 'zod';
import type { HpaSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { parseJson } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { findWindows, type StabilizationWindows } from '../decision/behavior.ts';
import type { HpaConfig } from '../decision/decision-input.ts';
import {
  isBeforeWindow,
  maxPeriodMs,
  type Recommendation,
  type ScaleEvent,
  type ScalingState,
} from '../decision/scaling-state.ts';

/**
 * The part of an HPA's state that later decisions depend on: of recommendations those that are the highest or lowest of all
 * later ones.
 */
export interface PersistedState {
  /** Earlier ones by age, each with the last time it was recommended. */
  readonly recommendations: readonly Recommendation[];
  /** The current recommendation; it is not written again while it stays. */
  readonly latest: Recommendation | undefined;
  readonly scaleUpEvents: readonly ScaleEvent[];
  readonly scaleDownEvents: readonly ScaleEvent[];
}

/** How long entries of an HPA's state matter. */
export interface StateWindows extends StabilizationWindows {
  /** Policies of both directions count changes of both directions. */
  readonly eventsMs: number;
}

export function findStateWindows(spec: HpaSpec, config: HpaConfig): StateWindows {
  const { scaleUp, scaleDown } = spec.behavior ?? {};
  return { ...findWindows(spec, config), eventsMs: maxPeriodMs(scaleUp, scaleDown) };
}

/** Reduces a state to what later decisions depend on. */
export function reduceState(memory: ScalingState, windows: StateWindows, nowMs: number): PersistedState {
  const byAge = memory.recommendations.toSorted((one, other) => one.atMs - other.atMs);
  return {
    recommendations: extremes(byAge, windows, nowMs).slice(0, -1),
    latest: byAge.at(-1),
    scaleUpEvents: within(memory.scaleUpEvents, windows.eventsMs, nowMs),
    scaleDownEvents: within(memory.scaleDownEvents, windows.eventsMs, nowMs),
  };
}

/**
 * Restores a state.
 *
 * @param latestUntilMs when the latest recommendation was last made, as far as known
 */
export function restoreState(persisted: PersistedState, latestUntilMs: number): ScalingState {
  const { recommendations, latest, scaleUpEvents, scaleDownEvents } = persisted;
  const last = latest && { ...latest, atMs: Math.max(latest.atMs, latestUntilMs) };
  return {
    recommendations: last ? [...recommendations, last] : recommendations,
    scaleUpEvents,
    scaleDownEvents,
  };
}

/** Whether the persisted state differs from the current one; outdated entries are no difference. */
export function isOutdated(
  persisted: PersistedState,
  memory: PersistedState,
  windows: StateWindows,
  nowMs: number,
): boolean {
  const before = reduceState(restoreState(persisted, memory.latest?.atMs ?? nowMs), windows, nowMs);
  return (
    before.latest?.replicas !== memory.latest?.replicas ||
    !isEqual(before.recommendations, memory.recommendations) ||
    !isEqual(before.scaleUpEvents, memory.scaleUpEvents) ||
    !isEqual(before.scaleDownEvents, memory.scaleDownEvents)
  );
}

/** By age, recommendations that are higher or lower than all later ones; the last is always included. */
function extremes(byAge: readonly Recommendation[], windows: StateWindows, nowMs: number): Recommendation[] {
  const { scaleUpWindowMs, scaleDownWindowMs } = windows;
  const extremes: Recommendation[] = [];
  let highest = Number.NEGATIVE_INFINITY;
  let lowest = Number.POSITIVE_INFINITY;
  for (const one of byAge.toReversed()) {
    const isLast = extremes.length === 0;
    const isOld =
      isBeforeWindow(one.atMs, scaleUpWindowMs, nowMs) && isBeforeWindow(one.atMs, scaleDownWindowMs, nowMs);
    if (isOld && !isLast) break;
    if (one.replicas > highest || one.replicas < lowest) extremes.push(one);
    highest = Math.max(highest, one.replicas);
    lowest = Math.min(lowest, one.replicas);
  }
  return extremes.reverse();
}

function within(events: readonly ScaleEvent[], periodMs: number, nowMs: number): readonly ScaleEvent[] {
  return events.filter(({ atMs }) => atMs > nowMs - periodMs).sort((one, other) => one.atMs - other.atMs);
}

function isEqual<Entry extends object>(some: readonly Entry[], others: readonly Entry[]): boolean {
  return JSON.stringify(some) === JSON.stringify(others);
}

/** The persisted record of an HPA. */
export interface StateRecord extends PersistedState {
  /** UID of the HPA: a recreated HPA starts over. */
  readonly uid: string;
  /** A scale change that was about to be written; the scale shows whether it was. */
  readonly intent?: ScaleIntent | undefined;
}

/** A scale change that is about to be written. */
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

/** Longer texts are not records. */
const MAX_RECORD_LENGTH = 256 * 1024;

export function formatRecord({ uid, recommendations, latest, intent, ...events }: StateRecord): string {
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

/** Parses a record; `undefined` for invalid text. */
export function parseRecord(text: string): StateRecord | undefined {
  if (text.length > MAX_RECORD_LENGTH) return undefined;
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

/** The persisted state, with the intended scale change counted as written. */
export function withIntent({ intent, ...persisted }: StateRecord): PersistedState {
  if (!intent) return persisted;
  const event: ScaleEvent = { change: Math.abs(intent.to - intent.from), atMs: intent.atMs };
  return intent.to > intent.from
    ? { ...persisted, scaleUpEvents: [...persisted.scaleUpEvents, event] }
    : { ...persisted, scaleDownEvents: [...persisted.scaleDownEvents, event] };
}

function entryOf({ change, atMs: at }: ScaleEvent): readonly [number, number] {
  return [change, at];
}
