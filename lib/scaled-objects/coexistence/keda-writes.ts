import { isDeepStrictEqual } from 'node:util';
import { controllerOf } from '#lib/control/owner-references.ts';
import { type KubernetesObject, keyOf, propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { type StatusManager, statusManagers } from '#lib/kubernetes/objects/managed-fields.ts';
import { printable } from '#lib/telemetry/printable.ts';
import type { Clock } from '#lib/time/clock.ts';
import { isKedaLabelEntry } from '../api/informers.ts';
import { FIELD_MANAGER } from '../api/resources.ts';
import { DEFAULT_POLLING_S } from '../api/scaled-object.ts';

export interface WrittenObject extends KubernetesObject {
  readonly spec: { readonly pollingInterval?: number | undefined };
  readonly status?: unknown;
}

interface ObservedWrite {
  readonly text: string;
  readonly untilMs: number;
}

/** A write counts for three polling intervals of its object: a running operator writes again meanwhile if a trigger is active. */
const POLLS = 3;
const MIN_MS = 90_000;
const MAX_MS = 900_000;
const MAX_NAME_LENGTH = 253;

/**
 * Detects by `managedFields` that another client writes the statuses of KEDA's kinds, or overwrites HPAs as KEDA does. A writer
 * of a status is assumed to manage its namespace, and no other, however many namespaces have one: a tenant may write statuses
 * in several. A writer of an HPA is assumed to manage only the ScaledObject that owns it, because many clients may write HPAs.
 *
 * A client that may edit an object can put any manager into its `managedFields`, but cannot change the status by that: an
 * entry counts only if the status changes too. Writes before the first read cannot be verified, and count as well.
 */
export class ExternalWrites {
  readonly #clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  /** Writes of statuses by namespace. */
  readonly #statuses = new Map<string, ObservedWrite>();
  /** Writes of HPAs by the key of the ScaledObject that owns them. */
  readonly #hpas = new Map<string, ObservedWrite>();

  constructor(clock: Pick<Clock, 'nowMs' | 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** @param previous `undefined` when the object is read for the first time */
  observe(kind: string, previous: WrittenObject | undefined, current: WrittenObject): void {
    if (current.status === undefined || isDeepStrictEqual(previous?.status, current.status)) return;
    const found = this.#findNewWrite(previous && managersOf(previous), managersOf(current));
    if (!found) return;
    const { namespace = '' } = current.metadata;
    const pollsMs = POLLS * (current.spec.pollingInterval ?? DEFAULT_POLLING_S) * 1000;
    const validForMs = Math.min(Math.max(pollsMs, MIN_MS), MAX_MS);
    const text = `"${shortened(found.manager)}" writes the status of ${kind} ${keyOf(current.metadata)}`;
    record(this.#statuses, namespace, { text, untilMs: found.sinceMs + validForMs });
  }

  /** @param previous `undefined` when the HPA is read for the first time */
  observeHpa(previous: KubernetesObject | undefined, current: KubernetesObject): void {
    const owner = controllerOf(current);
    if (owner?.kind !== 'ScaledObject') return;
    const found = this.#findNewWrite(previous && kedaLabelManagers(previous), kedaLabelManagers(current));
    if (!found) return;
    const { namespace } = current.metadata;
    const text = `"${shortened(found.manager)}" writes the HPA ${keyOf(current.metadata)}`;
    const untilMs = found.sinceMs + MIN_MS;
    record(this.#hpas, keyOf({ namespace, name: owner.name }), { text, untilMs });
  }

  /** Any write of another operator; `undefined` if there is none. */
  get anywhere(): string | undefined {
    this.#expire();
    for (const noticed of [this.#statuses, this.#hpas]) for (const { text } of noticed.values()) return text;
    return undefined;
  }

  /** A write which shows that another operator manages this object or its namespace; `undefined` if there is none. */
  on(kind: string, { namespace = '', name }: KubernetesObject['metadata']): string | undefined {
    const noticed = [this.#statuses.get(namespace)];
    if (kind === 'ScaledObject') noticed.push(this.#hpas.get(keyOf({ namespace, name })));
    const nowMs = this.#clock.monotonicMs();
    return noticed.find((one) => one && nowMs < one.untilMs)?.text;
  }

  /** Discards all writes: their writer has ended. */
  clear(): void {
    this.#statuses.clear();
    this.#hpas.clear();
  }

  /** The latest write of another manager, with its time by the monotonic clock; `undefined` if there is no new one. */
  #findNewWrite(before: readonly StatusManager[] | undefined, now: readonly StatusManager[]) {
    const latestMs = Math.max(...now.map(({ writtenAtMs }) => writtenAtMs));
    const found = now.find(
      ({ manager, writtenAtMs }) =>
        manager !== FIELD_MANAGER &&
        (before
          ? !before.some((one) => one.manager === manager && one.writtenAtMs === writtenAtMs)
          : writtenAtMs === latestMs),
    );
    if (!found) return undefined;
    const agoMs = before ? 0 : Math.max(0, this.#clock.nowMs() - found.writtenAtMs);
    return { manager: found.manager, sinceMs: this.#clock.monotonicMs() - agoMs };
  }

  #expire(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const noticed of [this.#statuses, this.#hpas])
      for (const [scope, { untilMs }] of noticed) if (nowMs >= untilMs) noticed.delete(scope);
  }
}

function record(noticed: Map<string, ObservedWrite>, scope: string, found: ObservedWrite): void {
  const previous = noticed.get(scope);
  if (!previous || previous.untilMs <= found.untilMs) noticed.set(scope, found);
}

function managersOf({ metadata }: KubernetesObject) {
  return statusManagers(propertyOf(metadata, 'managedFields'));
}

/** Bounds the length and characters of lease holders and field managers, which other clients choose. */
export function shortened(name: string): string {
  return printable(name.slice(0, MAX_NAME_LENGTH));
}

/** Field managers of KEDA that wrote the version label of an HPA, and when. */
function kedaLabelManagers({ metadata }: KubernetesObject): readonly StatusManager[] {
  const entries = propertyOf(metadata, 'managedFields');
  if (!Array.isArray(entries)) return [];
  return entries.filter(isKedaLabelEntry).flatMap((entry: unknown) => {
    const [manager, time] = [propertyOf(entry, 'manager'), propertyOf(entry, 'time')];
    const writtenAtMs = typeof time === 'string' ? Date.parse(time) : Number.NaN;
    return Number.isNaN(writtenAtMs) ? [] : [{ manager: String(manager), writtenAtMs }];
  });
}
