import { isDeepStrictEqual } from 'node:util';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { parseDurationMs } from '#lib/time/duration.ts';

/** The annotation with the sync period of an HPA. */
const RESYNC_PERIOD = 'platform.stke/resync-period';

const MIN_PERIOD_MS = 1000;
/** The maximum of an HPA's own sync period. */
const MAX_PERIOD_MS = 86_400_000;
/** HPAs of one namespace are decided within this time, because they share metric reads. */
const SPREAD_MS = 500;

/** The period of an HPA's decisions, and the offset within it. */
export interface SyncSchedule {
  readonly periodMs: number;
  readonly phaseMs: number;
  /** Why the annotation is invalid. */
  readonly problem?: string;
}

/**
 * The schedule of an HPA with its own period or the one of the controller. Namespaces are spread over the period; HPAs of
 * one namespace are decided close together, so that they share a recent list of pod metrics, also with different periods
 * if one is a multiple of the other.
 */
export function syncSchedule(
  { metadata: { namespace, name, annotations } }: Pick<Hpa, 'metadata'>,
  defaultPeriodMs: number,
): SyncSchedule {
  const text = annotations?.[RESYNC_PERIOD];
  const own = text === undefined ? undefined : parseDurationMs(text.slice(0, 64));
  const isValid = own !== undefined && own >= MIN_PERIOD_MS && own <= MAX_PERIOD_MS;
  const periodMs = isValid ? own : defaultPeriodMs;
  const spreadMs = Math.min(SPREAD_MS, periodMs / 5);
  const namespaceMs = (spreadOf(namespace) * MAX_PERIOD_MS) % periodMs;
  const phaseMs = namespaceMs + spreadOf(`${namespace}/${name}`) * spreadMs;
  if (text === undefined || isValid) return { periodMs, phaseMs };
  const problem = `annotation ${RESYNC_PERIOD} ${JSON.stringify(text.slice(0, 64))} is not a duration from 1s to 24h; using ${periodMs / 1000}s`;
  return { periodMs, phaseMs, problem };
}

/** Time until the next decision; an HPA that was just decided early is not due again at once. */
export function untilNextMs({ periodMs, phaseMs }: SyncSchedule, nowMs: number): number {
  const sinceMs = (((nowMs - phaseMs) % periodMs) + periodMs) % periodMs;
  const untilMs = periodMs - sinceMs;
  return untilMs < periodMs / 10 ? untilMs + periodMs : untilMs;
}

/** Tracks which HPAs are due: on schedule, and immediately after a change. */
export class DueHpas {
  readonly #decided = new Map<string, { readonly hpa: Hpa; readonly dueAtMs: number }>();
  /** HPAs of each namespace by period. */
  readonly #periods = new Map<string, Map<number, number>>();
  readonly #ownPeriods = new Map<string, { readonly namespace: string; readonly periodMs: number }>();

  /** Time until an HPA is due; 0 or less when it is due. */
  untilDueMs(key: string, hpa: Hpa, nowMs: number): number {
    const decided = this.#decided.get(key);
    return decided && hasSameSpec(decided.hpa, hpa) ? decided.dueAtMs - nowMs : 0;
  }

  /** Whether an HPA is new, or was changed by its user since the last decision. */
  isNew(key: string, hpa: Hpa): boolean {
    const decided = this.#decided.get(key);
    return !decided || !hasSameSpec(decided.hpa, hpa);
  }

  add(key: string, namespace: string, periodMs: number): void {
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

  remove(key: string): void {
    this.#decided.delete(key);
    this.#leave(key);
  }

  /** Whether a namespace has a tracked HPA. */
  hasHpas(namespace: string): boolean {
    return this.#periods.has(namespace);
  }

  /** The shortest period of the HPAs of a namespace. */
  minPeriodMs(namespace: string): number {
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

/** Whether two versions of an HPA differ in their status only. */
export function hasSameSpec(one: Hpa, other: Hpa): boolean {
  return (
    one.metadata.uid === other.metadata.uid &&
    isDeepStrictEqual(one.spec, other.spec) &&
    one.metadata.annotations?.[RESYNC_PERIOD] === other.metadata.annotations?.[RESYNC_PERIOD]
  );
}

/**
 * A hash of a text in [0, 1). Similar texts get distant numbers: `team-1` and `team-2` are not decided together.
 */
export function spreadOf(text: string): number {
  let hash = 0x811c9dc5; // FNV-1a
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  // The last characters change few bits; the final steps of MurmurHash3 spread them.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
