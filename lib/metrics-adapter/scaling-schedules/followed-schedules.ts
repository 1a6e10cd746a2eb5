import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { collectionPath } from '#lib/kubernetes/client/api-resource.ts';
import { Informer } from '#lib/kubernetes/informer/informer.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { FoundSchedules } from '../collectors/scaling-schedule-collector.ts';
import { readScalingSchedule } from './read-scaling-schedule.ts';
import { SCALING_SCHEDULES, type ScalingSchedule, type ScalingScheduleKind } from './scaling-schedule.ts';

/** What following schedules needs. */
export interface FollowedSchedulesOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly relistMs: number;
}

/** A schedule, or why it cannot be used. */
type Followed =
  | ScalingSchedule
  | { readonly name: string; readonly namespace: string; readonly error: Error };

/** The ScalingSchedules and ClusterScalingSchedules of the cluster, kept current; one that is not defined is not there. */
export class FollowedSchedules implements FoundSchedules, AsyncDisposable {
  readonly #informers: ReadonlyMap<ScalingScheduleKind, Informer<Followed>>;

  constructor(options: FollowedSchedulesOptions) {
    this.#informers = new Map(
      SCALING_SCHEDULES.kinds.map((kind) => {
        const path = collectionPath(resourceOfSchedules(kind));
        const transform = (object: unknown) => followed(object, kind);
        return [kind, new Informer<Followed>({ ...options, collection: { path }, transform })];
      }),
    );
  }

  start(): void {
    for (const informer of this.#informers.values()) informer.start();
  }

  find(kind: ScalingScheduleKind, key: string): ScalingSchedule | undefined {
    const informer = this.#informers.get(kind);
    const found = informer?.find(key);
    if (found && 'error' in found) throw new Error(`Cannot use ${kind} ${key}`, { cause: found.error });
    if (!found && !informer?.isSynced) throw new Error(`Objects of kind ${kind} are not known yet`);
    return found;
  }

  /** Those that can be used. */
  *values(): IterableIterator<ScalingSchedule> {
    for (const informer of this.#informers.values())
      for (const one of informer.values()) if (!('error' in one)) yield one;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const informer of this.#informers.values()) await informer[Symbol.asyncDispose]();
  }
}

/** Where the API server serves a kind of schedules. */
export function resourceOfSchedules(kind: ScalingScheduleKind) {
  const [group = '', version = ''] = SCALING_SCHEDULES.apiVersion.split('/');
  return { group, version, kind, plural: `${kind.toLowerCase()}s`, namespaced: kind === 'ScalingSchedule' };
}

function followed(object: unknown, kind: ScalingScheduleKind): Followed {
  try {
    return readScalingSchedule(object, kind);
  } catch (cause) {
    const metadata = propertyOf(object, 'metadata');
    const [name, namespace] = [propertyOf(metadata, 'name'), propertyOf(metadata, 'namespace')];
    const error = cause instanceof Error ? cause : new Error(String(cause));
    return { name: String(name), namespace: typeof namespace === 'string' ? namespace : '', error };
  }
}
