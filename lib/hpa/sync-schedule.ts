import { isDeepStrictEqual } from 'node:util';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { parseDurationMs } from '#lib/time/duration.ts';

/** How often an HPA is decided, where that differs from the controller's period. */
const RESYNC_PERIOD = 'platform.stke/resync-period';

const SHORTEST_PERIOD_MS = 1000;
/** A longer one says nothing: Kubernetes' timers and ours end there. */
const LONGEST_PERIOD_MS = 86_400_000;
/** HPAs of one namespace are decided within this time of one another, for they share what was read. */
const SPREAD_MS = 500;

/** How often an HPA is decided, and when within that time. */
export interface SyncSchedule {
  readonly periodMs: number;
  readonly phaseMs: number;
  /** Why the HPA's own period does not count. */
  readonly problem?: string;
}

/**
 * The period of an HPA: its own, or that of the controller. Namespaces are spread over the period; HPAs of one namespace
 * follow one another, so that a list of what its pods use is young for all of them; where their periods differ, too, as long
 * as one is a multiple of the other.
 */
export function syncSchedule(
  { metadata: { namespace, name, annotations } }: Pick<Hpa, 'metadata'>,
  defaultPeriodMs: number,
): SyncSchedule {
  const text = annotations?.[RESYNC_PERIOD];
  const own = text === undefined ? undefined : parseDurationMs(text.slice(0, 64));
  const isValid = own !== undefined && own >= SHORTEST_PERIOD_MS && own <= LONGEST_PERIOD_MS;
  const periodMs = isValid ? own : defaultPeriodMs;
  const spreadMs = Math.min(SPREAD_MS, periodMs / 5);
  const placeMs = (spreadOf(namespace) * LONGEST_PERIOD_MS) % periodMs;
  const phaseMs = placeMs + spreadOf(`${namespace}/${name}`) * spreadMs;
  if (text === undefined || isValid) return { periodMs, phaseMs };
  const problem = `the annotation ${RESYNC_PERIOD} ${JSON.stringify(text.slice(0, 64))} is no duration from 1s to 24h; ${periodMs / 1000}s is used`;
  return { periodMs, phaseMs, problem };
}

/** How long until an HPA is decided next; one that was just decided early is not decided at once again. */
export function untilNextMs({ periodMs, phaseMs }: SyncSchedule, nowMs: number): number {
  const sinceMs = (((nowMs - phaseMs) % periodMs) + periodMs) % periodMs;
  const untilMs = periodMs - sinceMs;
  return untilMs < periodMs / 10 ? untilMs + periodMs : untilMs;
}

/** Knows which HPAs are due: at their times, and at once where they were changed. */
export class DueHpas {
  readonly #decided = new Map<string, { readonly hpa: Hpa; readonly dueAtMs: number }>();
  /** How many HPAs of each namespace have which period. */
  readonly #periods = new Map<string, Map<number, number>>();
  readonly #ownPeriods = new Map<string, { readonly namespace: string; readonly periodMs: number }>();

  /** How long until an HPA is due; 0 or less when it is. */
  untilDueMs(key: string, hpa: Hpa, nowMs: number): number {
    const decided = this.#decided.get(key);
    return decided && isSameWish(decided.hpa, hpa) ? decided.dueAtMs - nowMs : 0;
  }

  /** Whether an HPA is met for the first time, or was changed by its user since it was decided. */
  isNew(key: string, hpa: Hpa): boolean {
    const decided = this.#decided.get(key);
    return !decided || !isSameWish(decided.hpa, hpa);
  }

  follow(key: string, namespace: string, periodMs: number): void {
    const own = this.#ownPeriods.get(key);
    if (own?.periodMs === periodMs) return;
    this.#leave(key);
    this.#ownPeriods.set(key, { namespace, periodMs });
    const counts = this.#periods.get(namespace) ?? new Map<number, number>();
    counts.set(periodMs, (counts.get(periodMs) ?? 0) + 1);
    this.#periods.set(namespace, counts);
  }

  decided(key: string, hpa: Hpa, dueAtMs: number): void {
    this.#decided.set(key, { hpa, dueAtMs });
  }

  forget(key: string): void {
    this.#decided.delete(key);
    this.#leave(key);
  }

  /** Whether a namespace has an HPA that was met. */
  isFollowing(namespace: string): boolean {
    return this.#periods.has(namespace);
  }

  /** Of all HPAs of a namespace. */
  shortestPeriodMs(namespace: string): number {
    return Math.min(...(this.#periods.get(namespace)?.keys() ?? []));
  }

  #leave(key: string): void {
    const own = this.#ownPeriods.get(key);
    if (!own) return;
    this.#ownPeriods.delete(key);
    const counts = this.#periods.get(own.namespace);
    const left = (counts?.get(own.periodMs) ?? 1) - 1;
    if (left > 0) counts?.set(own.periodMs, left);
    else counts?.delete(own.periodMs);
    if (counts?.size === 0) this.#periods.delete(own.namespace);
  }
}

/** Whether nothing of an HPA was changed but its status. */
export function isSameWish(one: Hpa, other: Hpa): boolean {
  return (
    one.metadata.uid === other.metadata.uid &&
    isDeepStrictEqual(one.spec, other.spec) &&
    one.metadata.annotations?.[RESYNC_PERIOD] === other.metadata.annotations?.[RESYNC_PERIOD]
  );
}

/**
 * A number in [0, 1) that a text has for good, and that is far from those of texts like it: `team-1` and `team-2` are not to
 * be looked at together.
 */
export function spreadOf(text: string): number {
  let hash = 0x811c9dc5; // FNV-1a
  for (let place = 0; place < text.length; place++)
    hash = Math.imul(hash ^ text.charCodeAt(place), 0x01000193);
  // Its last characters change few bits; the last steps of MurmurHash3 spread them over all.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
