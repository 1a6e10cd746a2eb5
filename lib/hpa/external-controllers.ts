import { removeCondition, setCondition } from '#lib/control/conditions.ts';
import type { EventText } from '#lib/control/event-recorder.ts';
import { type HpaStatus, isSameStatus } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import type { StatusManager } from '#lib/kubernetes/objects/managed-fields.ts';
import type { Clock } from '#lib/time/clock.ts';
import { formatDuration } from '#lib/time/duration.ts';

/** Number of own statuses that are recognized. */
const MAX_SENT = 4;

interface Noticed {
  readonly other: ExternalController;
  /** Monotonic time: a step of the wall clock changes no age. */
  readonly writtenAtMonotonicMs: number;
}

/** Detects other controllers of HPAs by their status writes. */
export class ExternalControllers {
  readonly #noticed = new Map<string, Noticed>();
  readonly #sent = new Map<string, readonly HpaStatus[]>();
  readonly #clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;

  constructor(clock: Pick<Clock, 'nowMs' | 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Records a status that this process is about to write. */
  sending(key: string, status: HpaStatus): void {
    this.#sent.set(key, [...(this.#sent.get(key) ?? []), status].slice(-MAX_SENT));
  }

  /** Observes a new, changed or deleted HPA; nothing is known of one whose status is left out. */
  observe(key: string, previous: Hpa | undefined, current: Hpa | undefined): void {
    if (!current || current.isReduced) {
      this.#noticed.delete(key);
      this.#sent.delete(key);
      return;
    }
    const isSent = () => (this.#sent.get(key) ?? []).some((status) => isSameStatus(current.status, status));
    const nowMs = this.#clock.nowMs();
    const whole = previous?.isReduced ? undefined : previous;
    const other = findExternalWriter(whole, current, { isSent, nowMs });
    if (!other) return;
    const writtenAtMonotonicMs = this.#clock.monotonicMs() - (nowMs - other.writtenAtMs);
    this.#noticed.set(key, { other, writtenAtMonotonicMs });
  }

  /** Another controller that wrote an HPA's status within a time. */
  lately(key: string, withinMs: number): ExternalController | undefined {
    const noticed = this.#noticed.get(key);
    if (!noticed) return undefined;
    if (this.#clock.monotonicMs() - noticed.writtenAtMonotonicMs < withinMs) return noticed.other;
    this.#noticed.delete(key);
    return undefined;
  }
}

/**
 * Returns the other controller that wrote an HPA's status between two observations.
 *
 * The writer follows from managedFields; where these are ambiguous, from whether this process sent the status. For a new
 * HPA the time in managedFields counts, unless this controller wrote later.
 */
export function findExternalWriter(
  previous: Hpa | undefined,
  current: Hpa,
  { isSent, nowMs }: { readonly isSent: () => boolean; readonly nowMs: number },
): ExternalController | undefined {
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

/** The last status write of another controller, by managedFields. */
export function writtenByOtherAtMs({ statusWriters }: Pick<Hpa, 'statusWriters'>): number | undefined {
  const [latest] = lastWriters(statusWriters.filter(isOther));
  return latest?.writtenAtMs;
}

/** The managers with the latest time; within one second their order is unknown. */
function lastWriters(writers: readonly StatusManager[]): readonly StatusManager[] {
  const latestMs = writers.reduce((latest, { writtenAtMs }) => Math.max(latest, writtenAtMs), 0);
  return writers.filter(({ writtenAtMs }) => writtenAtMs === latestMs);
}

function isOther({ manager }: StatusManager): boolean {
  return manager !== FIELD_MANAGER;
}

/** The condition of an HPA that another controller manages. */
const CONTROLLED_ELSEWHERE = 'ControlledElsewhere';

/** The condition and event of an HPA that another controller manages: this one does not scale it meanwhile. */
export function reportExternalController(
  { status }: Hpa,
  { manager }: ExternalController,
  { nowMs, periodMs }: { readonly nowMs: number; readonly periodMs: number },
): { readonly status: HpaStatus; readonly event: EventText } {
  const message = `"${manager}" also writes the status of this HPA. This controller does not scale the HPA until the other has written nothing for ${formatDuration(3 * periodMs)}; disable one of the two controllers`;
  const before: HpaStatus = status ?? { desiredReplicas: 0 };
  const observed = { type: CONTROLLED_ELSEWHERE, status: 'True', reason: 'AnotherControllerActs', message };
  return {
    status: { ...before, conditions: setCondition(before.conditions ?? [], observed, nowMs) },
    event: { type: 'Warning', reason: 'AnotherControllerActs', message },
  };
}

/** The HPA without that condition. */
export function withoutElsewhere(hpa: Hpa): Hpa {
  const { status } = hpa;
  if (!status?.conditions) return hpa;
  const conditions = removeCondition(status.conditions, CONTROLLED_ELSEWHERE);
  return conditions === status.conditions ? hpa : { ...hpa, status: { ...status, conditions } };
}

/** The field manager of our writes. */
export const FIELD_MANAGER = 'autoscaler-hpa';

/** Another controller that writes the status of an HPA. */
export interface ExternalController {
  readonly manager: string;
  readonly writtenAtMs: number;
}
