import * as z from 'zod/mini';
import { parseJson } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { ScaleEvent } from '../decision/scaling-state.ts';
import type { KeptMemory } from './kept-memory.ts';

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
const atMs = z.number().check(z.nonnegative());
const entries = z.array(z.tuple([count, atMs])).check(z.maxLength(4096));
const RECORD = z.object({
  uid: z.string(),
  recommendations: entries,
  latest: z.optional(z.tuple([count, atMs])),
  scaleUps: z.optional(entries),
  scaleDowns: z.optional(entries),
  intent: z.optional(z.tuple([count, count, atMs])),
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
