import { isDeepStrictEqual } from 'node:util';
import { controllerOf } from '#lib/control/owner-references.ts';
import { type KubernetesObject, keyOf, propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { type StatusManager, statusManagers } from '#lib/kubernetes/objects/managed-fields.ts';
import { printable } from '#lib/telemetry/printable.ts';
import type { Clock } from '#lib/time/clock.ts';
import { isKedaLabelEntry } from '../api/informers.ts';
import { FIELD_MANAGER } from '../api/resources.ts';
import { DEFAULT_POLLING_S } from '../api/scaled-object.ts';

/** An object whose status is looked at, and how often it is polled. */
export interface WrittenObject extends KubernetesObject {
  readonly spec: { readonly pollingInterval?: number };
  readonly status?: unknown;
}

interface ObservedWrite {
  /** Whether the status was seen to change with it. */
  readonly isObserved: boolean;
  readonly text: string;
  readonly untilMs: number;
}

/** A write counts for three polls of its object: an operator that runs writes again meanwhile, where anything is active. */
const POLLS = 3;
const MIN_MS = 90_000;
const MAX_MS = 900_000;
const MAX_NAME_LENGTH = 253;

/**
 * Notices who else writes the statuses of our kinds, and who writes over our HPAs as KEDA does, by the managers of their
 * fields. Who writes one status acts in its namespace, and who is seen to do so in two acts everywhere; who writes one HPA
 * acts on the ScaledObject that it belongs to, for HPAs may be written by many.
 *
 * Who may edit an object can put any manager into its `managedFields`, but cannot change its status with that: what comes
 * without a change of the status is no write. What was written before the first look cannot be told from that, and counts
 * for its namespace alone.
 */
export class ExternalWrites {
  readonly #clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  /** What was noticed, by namespaces. */
  readonly #statuses = new Map<string, ObservedWrite>();
  /** What was noticed of HPAs, by the keys of the ScaledObjects that they belong to. */
  readonly #hpas = new Map<string, ObservedWrite>();

  constructor(clock: Pick<Clock, 'nowMs' | 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** Looks at an object that was seen for the first time or has changed. */
  observe(kind: string, previous: WrittenObject | undefined, current: WrittenObject): void {
    if (current.status === undefined || isDeepStrictEqual(previous?.status, current.status)) return;
    const found = this.#findNewWrite(previous && managersOf(previous), managersOf(current));
    if (!found) return;
    const { namespace = '' } = current.metadata;
    const pollsMs = POLLS * (current.spec.pollingInterval ?? DEFAULT_POLLING_S) * 1000;
    const validForMs = Math.min(Math.max(pollsMs, MIN_MS), MAX_MS);
    const text = `"${shortened(found.manager)}" writes the status of ${kind} ${keyOf(current.metadata)}`;
    const isObserved = previous !== undefined;
    record(this.#statuses, namespace, { text, untilMs: found.sinceMs + validForMs, isObserved });
  }

  /** Looks at an HPA that was seen for the first time or has changed. */
  observeHpa(previous: KubernetesObject | undefined, current: KubernetesObject): void {
    const owner = controllerOf(current);
    if (owner?.kind !== 'ScaledObject') return;
    const found = this.#findNewWrite(previous && kedaLabelManagers(previous), kedaLabelManagers(current));
    if (!found) return;
    const { namespace } = current.metadata;
    const text = `"${shortened(found.manager)}" writes the HPA ${keyOf(current.metadata)}`;
    const untilMs = found.sinceMs + MIN_MS;
    record(this.#hpas, keyOf({ namespace, name: owner.name }), { text, untilMs, isObserved: true });
  }

  /** By what it is known that somebody else acts on all objects; `undefined` where nobody is known to. */
  get everywhere(): string | undefined {
    this.#expire();
    const seen = [...this.#statuses.values()].filter(({ isObserved }) => isObserved);
    return seen.length < 2 ? undefined : seen[0]?.text;
  }

  /** By what it is known that somebody else acts on any object. */
  get anywhere(): string | undefined {
    this.#expire();
    for (const noticed of [this.#statuses, this.#hpas]) for (const { text } of noticed.values()) return text;
    return undefined;
  }

  /** By what it is known that somebody else acts on an object, or in its namespace. */
  on(kind: string, { namespace = '', name }: KubernetesObject['metadata']): string | undefined {
    const noticed = [this.#statuses.get(namespace)];
    if (kind === 'ScaledObject') noticed.push(this.#hpas.get(keyOf({ namespace, name })));
    const nowMs = this.#clock.monotonicMs();
    return noticed.find((one) => one && nowMs < one.untilMs)?.text;
  }

  /** Who wrote is known to have ended: what it wrote before tells nothing. */
  clear(): void {
    this.#statuses.clear();
    this.#hpas.clear();
  }

  /** The writer that is not ourselves, and when it wrote by our monotonic clock; `undefined` where that is nothing new. */
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
  const latest = !previous || previous.untilMs <= found.untilMs ? found : previous;
  noticed.set(scope, { ...latest, isObserved: found.isObserved || previous?.isObserved === true });
}

function managersOf({ metadata }: KubernetesObject) {
  return statusManagers(propertyOf(metadata, 'managedFields'));
}

/** Names of others are as long and as strange as they like. */
function shortened(name: string): string {
  return printable(name.slice(0, MAX_NAME_LENGTH));
}

/** Who has written the label of an HPA by which KEDA's operator cannot but write over ours, and when. */
function kedaLabelManagers({ metadata }: KubernetesObject): readonly StatusManager[] {
  const entries = propertyOf(metadata, 'managedFields');
  if (!Array.isArray(entries)) return [];
  return entries.filter(isKedaLabelEntry).flatMap((entry: unknown) => {
    const [manager, time] = [propertyOf(entry, 'manager'), propertyOf(entry, 'time')];
    const writtenAtMs = typeof time === 'string' ? Date.parse(time) : Number.NaN;
    return Number.isNaN(writtenAtMs) ? [] : [{ manager: String(manager), writtenAtMs }];
  });
}
