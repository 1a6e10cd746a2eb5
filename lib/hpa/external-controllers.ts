import { removeCondition, setCondition } from '#lib/control/conditions.ts';
import type { EventText } from '#lib/control/event-recorder.ts';
import { type HpaStatus, isSameStatus } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import type { StatusManager } from '#lib/kubernetes/objects/managed-fields.ts';
import type { Clock } from '#lib/time/clock.ts';
import { formatDuration } from '#lib/time/duration.ts';

/** So many statuses that were sent last are known again. */
const SENT = 4;

interface Noticed {
  readonly other: OtherController;
  /** By the monotonic clock: a step of the other makes no write older or younger. */
  readonly writtenAtMonotonicMs: number;
}

/** Notices other controllers of HPAs by what they write into statuses. */
export class OtherControllers {
  readonly #noticed = new Map<string, Noticed>();
  readonly #sent = new Map<string, readonly HpaStatus[]>();
  readonly #clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;

  constructor(clock: Pick<Clock, 'nowMs' | 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** A status is about to be written by this process. */
  sending(key: string, status: HpaStatus): void {
    this.#sent.set(key, [...(this.#sent.get(key) ?? []), status].slice(-SENT));
  }

  /** Looks at an HPA that was seen for the first time, has changed, or is gone. */
  observe(key: string, previous: Hpa | undefined, current: Hpa | undefined): void {
    if (!current) {
      this.#noticed.delete(key);
      this.#sent.delete(key);
      return;
    }
    const isSent = () => (this.#sent.get(key) ?? []).some((status) => isSameStatus(current.status, status));
    const nowMs = this.#clock.nowMs();
    const other = otherWriter(previous, current, { isSent, nowMs });
    if (!other) return;
    const writtenAtMonotonicMs = this.#clock.monotonicMs() - (nowMs - other.writtenAtMs);
    this.#noticed.set(key, { other, writtenAtMonotonicMs });
  }

  /** Another controller that has written an HPA's status within the last while. */
  lately(key: string, withinMs: number): OtherController | undefined {
    const noticed = this.#noticed.get(key);
    if (!noticed) return undefined;
    if (this.#clock.monotonicMs() - noticed.writtenAtMonotonicMs < withinMs) return noticed.other;
    this.#noticed.delete(key);
    return undefined;
  }
}

/**
 * Tells which other controller has written an HPA's status between two looks at it.
 *
 * Who has written is told by the managers of its fields; where these do not tell it, by whether it is what this process
 * has sent. At the first look the time counts that the API server has noted, unless this controller wrote later.
 */
export function otherWriter(
  previous: Hpa | undefined,
  current: Hpa,
  { isSent, nowMs }: { readonly isSent: () => boolean; readonly nowMs: number },
): OtherController | undefined {
  const { statusWriters } = current;
  if (!previous) {
    const last = lastWriters(statusWriters).find(isOther);
    return last && { ...last, writtenAtMs: Math.min(last.writtenAtMs, nowMs) };
  }
  if (isSameStatus(previous.status, current.status ?? { desiredReplicas: 0 })) return undefined;
  const changed = statusWriters.filter(
    ({ manager, writtenAtMs }) =>
      !previous.statusWriters.some((one) => one.manager === manager && one.writtenAtMs === writtenAtMs),
  );
  const suspects = changed.length > 0 ? changed : lastWriters(statusWriters);
  if (suspects.length === 0) return isSent() ? undefined : { manager: 'unknown', writtenAtMs: nowMs };
  const other = suspects.find(isOther);
  if (!other || (suspects.length > 1 && isSent())) return undefined;
  return { manager: other.manager, writtenAtMs: nowMs };
}

/** When another controller wrote an HPA's status last, as far as the API server tells. */
export function writtenByOtherAtMs({ statusWriters }: Pick<Hpa, 'statusWriters'>): number | undefined {
  const [latest] = lastWriters(statusWriters.filter(isOther));
  return latest?.writtenAtMs;
}

/** Those of the latest time; within one second it is not told who was last. */
function lastWriters(writers: readonly StatusManager[]): readonly StatusManager[] {
  const latestMs = writers.reduce((latest, { writtenAtMs }) => Math.max(latest, writtenAtMs), 0);
  return writers.filter(({ writtenAtMs }) => writtenAtMs === latestMs);
}

function isOther({ manager }: StatusManager): boolean {
  return manager !== FIELD_MANAGER;
}

/** The condition of an HPA that another controller acts on. */
const CONTROLLED_ELSEWHERE = 'ControlledElsewhere';

/** Says that another controller acts on an HPA, and that this one does not while it does. */
export function actedOnElsewhere(
  { status }: Hpa,
  { manager }: OtherController,
  { nowMs, periodMs }: { readonly nowMs: number; readonly periodMs: number },
): { readonly status: HpaStatus; readonly event: EventText } {
  const message = `"${manager}" writes the status of this HPA, too, so this controller leaves it alone until that has not happened for ${formatDuration(3 * periodMs)}; switch one of both off`;
  const before: HpaStatus = status ?? { desiredReplicas: 0 };
  const observed = { type: CONTROLLED_ELSEWHERE, status: 'True', reason: 'AnotherControllerActs', message };
  return {
    status: { ...before, conditions: setCondition(before.conditions ?? [], observed, nowMs) },
    event: { type: 'Warning', reason: 'AnotherControllerActs', message },
  };
}

/** The HPA without that condition, as it is while nobody else acts. */
export function withoutElsewhere(hpa: Hpa): Hpa {
  const { status } = hpa;
  if (!status?.conditions) return hpa;
  const conditions = removeCondition(status.conditions, CONTROLLED_ELSEWHERE);
  return conditions === status.conditions ? hpa : { ...hpa, status: { ...status, conditions } };
}

/** Under this name the API server keeps which fields of HPAs are ours. */
export const FIELD_MANAGER = 'autoscaler-hpa';

/** Another controller that writes an HPA's status. */
export interface OtherController {
  readonly manager: string;
  readonly writtenAtMs: number;
}
