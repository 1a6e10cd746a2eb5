import { statusManagers } from '#lib/control/status/status-managers.ts';
import type { KubernetesObject } from '#lib/kubernetes/kubernetes-object.ts';
import { propertyOf } from '#lib/kubernetes/object-metadata.ts';
import type { Clock } from '#lib/time/clock.ts';
import { FIELD_MANAGER } from '../objects/resources.ts';

/** A status that somebody else has written lately. */
export interface OtherWrite {
  readonly manager: string;
  /** Of which object, as in `ScaledObject default/web`. */
  readonly object: string;
}

/** An object whose status is looked at, and how often it is polled. */
export interface WrittenObject extends KubernetesObject {
  readonly spec: { readonly pollingInterval?: number };
}

interface Noticed extends OtherWrite {
  readonly untilMs: number;
}

/** A write counts for three polls of its object: an operator that runs writes again meanwhile, where anything is active. */
const POLLS = 3;
const DEFAULT_POLLING_S = 30;
const LEAST_MS = 90_000;
const MOST_MS = 900_000;

/** Notices who else writes the statuses of our kinds, by the managers of their fields. */
export class StatusWrites {
  readonly #clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  #noticed: Noticed | undefined;

  constructor(clock: Pick<Clock, 'nowMs' | 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Looks at an object that was seen for the first time or has changed. */
  observe(kind: string, previous: WrittenObject | undefined, current: WrittenObject): void {
    const { namespace, name } = current.metadata;
    const before = previous && managersOf(previous);
    const nowMs = this.#clock.nowMs();
    const now = managersOf(current);
    const latestMs = Math.max(...now.map(({ writtenAtMs }) => writtenAtMs));
    const other = now.find(
      ({ manager, writtenAtMs }) =>
        manager !== FIELD_MANAGER &&
        (before
          ? !before.some((one) => one.manager === manager && one.writtenAtMs === writtenAtMs)
          : writtenAtMs === latestMs),
    );
    if (!other) return;
    const agoMs = before ? 0 : Math.max(0, nowMs - other.writtenAtMs);
    const pollsMs = POLLS * (current.spec.pollingInterval ?? DEFAULT_POLLING_S) * 1000;
    const validForMs = Math.min(Math.max(pollsMs, LEAST_MS), MOST_MS);
    const untilMs = this.#clock.monotonicMs() - agoMs + validForMs;
    if (this.#noticed && this.#noticed.untilMs > untilMs) return;
    this.#noticed = { manager: other.manager, object: `${kind} ${namespace}/${name}`, untilMs };
  }

  /** What somebody else has written lately; `undefined` where nobody has. */
  get lately(): OtherWrite | undefined {
    if (this.#noticed && this.#clock.monotonicMs() >= this.#noticed.untilMs) this.#noticed = undefined;
    return this.#noticed;
  }

  /** Who wrote is known to have ended: what it wrote before tells nothing. */
  forget(): void {
    this.#noticed = undefined;
  }
}

function managersOf({ metadata }: KubernetesObject) {
  return statusManagers(propertyOf(metadata, 'managedFields'));
}
