import { type ChangeSource, type Controller, DONE, mapKeys } from '#lib/control/controller.ts';
import type { EventRecorder } from '#lib/control/event-recorder.ts';
import { removeFinalizer } from '#lib/control/finalizers.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { ObjectChange } from '#lib/kubernetes/informer/object-store.ts';
import type { SharedInformer } from '#lib/kubernetes/informer/shared-informers.ts';
import type { Clock } from '#lib/time/clock.ts';
import { eventsOf } from '../../api/object-events.ts';
import { FINALIZER } from '../../api/resources.ts';
import type { ScaledJob } from '../../api/scaled-job.ts';
import type { ScaledObject } from '../../api/scaled-object.ts';
import type { StatusWrites } from '../../api/status-writes.ts';
import {
  type AUTHENTICATION_KINDS,
  authenticationNames,
  type TriggerAuthentication,
} from '../../api/trigger-authentication.ts';

type Status = NonNullable<TriggerAuthentication['status']>;

interface TriggerAuthenticationDependencies {
  readonly kind: (typeof AUTHENTICATION_KINDS)[number];
  readonly authentications: SharedInformer<TriggerAuthentication>;
  readonly objects: SharedInformer<ScaledObject>;
  readonly scaledJobs: SharedInformer<ScaledJob>;
  readonly client: ResourceClient<TriggerAuthentication>;
  readonly statuses: StatusWrites<Status, TriggerAuthentication>;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
}

/**
 * Records events when authentications are added, changed or deleted, and lists the objects that use them in their status. A new
 * controller for each term as leader.
 */
export function triggerAuthenticationController(dependencies: TriggerAuthenticationDependencies): Controller {
  const { kind, authentications, objects, scaledJobs, client, statuses, clock } = dependencies;
  const observed = new Map<string, TriggerAuthentication>();
  const users = <T extends ScaledObject | ScaledJob>(source: ChangeSource<ObjectChange<T>>) =>
    mapKeys(source, ({ previous, current }) => referredTo(kind, previous, current));
  return {
    name: kind.toLowerCase(),
    watches: [authentications, users(objects), users(scaledJobs)],
    async reconcile(key, signal) {
      const found = authentications.find(key);
      const before = observed.get(key);
      if (!found || (before && before.metadata.uid !== found.metadata.uid)) {
        if (before) record(before, 'Deleted', `${kind} was deleted`);
        observed.delete(key);
      }
      if (!found) return DONE;
      if (found.metadata.deletionTimestamp) {
        // The autoscaler sets no finalizer, but removes KEDA's: the deletion would never complete.
        await removeFinalizer(found, FINALIZER, { client, clock, signal });
        return DONE;
      }
      const { generation } = found.metadata;
      if (!observed.has(key) && generation === 1 && !found.status)
        record(found, 'Added', `New ${kind} configured`);
      if (before && before.metadata.generation !== generation && before.metadata.uid === found.metadata.uid)
        record(found, 'Updated', `${kind} ${found.metadata.name} is updated`);
      observed.set(key, found);
      const name = `${kind} ${key}`;
      await statuses.write(
        found,
        {
          scaledobjects: namesOf(objects.findBy('authentication', name)),
          scaledjobs: namesOf(scaledJobs.findBy('authentication', name)),
        },
        signal,
      );
      return DONE;
    },
  };

  function record(
    object: TriggerAuthentication,
    what: 'Added' | 'Updated' | 'Deleted',
    message: string,
  ): void {
    eventsOf(object, kind, dependencies.events).normal(`${kind}${what}`, message);
  }
}

/** Keys of the authentications of a kind that an object refers to, before or after a change. */
function referredTo(
  kind: string,
  ...objects: readonly (ScaledObject | ScaledJob | undefined)[]
): ReadonlySet<string> {
  const names = objects.flatMap((object) => (object ? authenticationNames(object) : []));
  return new Set(names.flatMap((name) => (name.startsWith(`${kind} `) ? [name.slice(kind.length + 1)] : [])));
}

function namesOf(objects: readonly (ScaledObject | ScaledJob)[]): string {
  return [...new Set(objects.map(({ metadata }) => metadata.name))].sort().join(',');
}
