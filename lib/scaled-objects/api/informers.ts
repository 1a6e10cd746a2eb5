import { isDeepStrictEqual } from 'node:util';
import { mapKeys, type Watched } from '#lib/control/controller.ts';
import { controllerOf } from '#lib/control/owner-references.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import type { ObjectChange } from '#lib/kubernetes/informer/object-store.ts';
import {
  type KubernetesObject,
  keyOf,
  readBoundedObject,
} from '#lib/kubernetes/objects/kubernetes-object.ts';
import { type FollowOptions, NamespacedObjects } from './namespaced-objects.ts';
import {
  CLUSTER_TRIGGER_AUTHENTICATIONS,
  SCALED_JOBS,
  SCALED_OBJECTS,
  TRIGGER_AUTHENTICATIONS,
} from './resources.ts';
import type { ScaledJob } from './scaled-job.ts';
import { hpaNameOf, type ScaledObject, targetOf } from './scaled-object.ts';
import { targetName, Workloads } from './target-workloads.ts';
import {
  AUTHENTICATION_KINDS,
  authenticationNames,
  type TriggerAuthentication,
} from './trigger-authentication.ts';

/** What every replica follows of its own kinds, and of what they scale. */
interface FollowedObjects extends AsyncDisposable {
  readonly objects: NamespacedObjects<ScaledObject>;
  readonly scaledJobs: NamespacedObjects<ScaledJob>;
  readonly authentications: NamespacedObjects<TriggerAuthentication>;
  readonly clusterAuthentications: NamespacedObjects<TriggerAuthentication>;
  readonly workloads: Workloads;
  /** Has ScaledObjects looked at whose target changes. */
  readonly targets: Watched;
  /** Has ScaledObjects looked at whose authentications change. */
  readonly authenticationsOfObjects: readonly Watched[];
  readonly authenticationsOfJobs: readonly Watched[];
  /** One by its kind and key. */
  authentication(kind: string, key: string): TriggerAuthentication | undefined;
  /** What tells apart what an object refers to from what it was before: which they are, and as of when. */
  authenticationsOf(object: ScaledObject | ScaledJob): readonly string[];
  start(): void;
  readonly isSynced: boolean;
}

/** Makes the informers; they begin with `start()`. */
export function followObjects(options: FollowOptions): FollowedObjects {
  const objects = new NamespacedObjects<ScaledObject>(
    {
      ...{ resource: SCALED_OBJECTS, transform: (value) => readBoundedObject(value) as ScaledObject },
      indexes: {
        hpa: (object) => [hpaKeyOf(object)],
        target: (object) => [targetName(targetOf(object))],
        authentication: authenticationNames,
      },
    },
    options,
  );
  const scaledJobs = new NamespacedObjects<ScaledJob>(
    {
      ...{ resource: SCALED_JOBS, transform: (value) => readBoundedObject(value) as ScaledJob },
      indexes: { authentication: authenticationNames },
    },
    options,
  );
  const transform = (value: unknown) => readBoundedObject(value) as TriggerAuthentication;
  const authentications = new NamespacedObjects({ resource: TRIGGER_AUTHENTICATIONS, transform }, options);
  const clusterAuthentications = new NamespacedObjects(
    { resource: CLUSTER_TRIGGER_AUTHENTICATIONS, transform },
    options,
  );
  const workloads = new Workloads(options);
  const all = [objects, scaledJobs, authentications, clusterAuthentications, workloads];
  const authentication = (kind: string, key: string) =>
    (kind === AUTHENTICATION_KINDS[1] ? clusterAuthentications : authentications).find(key);
  const whoRefer = (users: NamespacedObjects<ScaledObject> | NamespacedObjects<ScaledJob>) =>
    [authentications, clusterAuthentications].map((one, index) =>
      mapKeys(one, ({ key }) =>
        keysOf(users.findBy('authentication', `${AUTHENTICATION_KINDS[index]} ${key}`)),
      ),
    );
  return {
    ...{ objects, scaledJobs, authentications, clusterAuthentications, workloads, authentication },
    targets: {
      onChange: (listener) =>
        workloads.onChange(
          (name) => {
            for (const key of keysOf(objects.findBy('target', name))) listener({ key });
          },
          { replay: false },
        ),
      synced: (signal) => workloads.synced(signal),
    },
    authenticationsOfObjects: whoRefer(objects),
    authenticationsOfJobs: whoRefer(scaledJobs),
    authenticationsOf: (object) =>
      authenticationNames(object).map((name) => {
        const [kind = '', key = ''] = name.split(' ');
        const { uid, generation } = authentication(kind, key)?.metadata ?? {};
        return `${uid} ${generation}`;
      }),
    start() {
      for (const one of all) one.start();
    },
    get isSynced() {
      return all.every((one) => one.isSynced);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map((one) => one[Symbol.asyncDispose]()));
    },
  };
}

/** Objects that want the target of one, or an HPA of the same name; it is among them. */
export function rivalsOf(
  objects: Pick<NamespacedObjects<ScaledObject>, 'findBy'>,
  object: ScaledObject,
): readonly ScaledObject[] {
  const found = [
    ...objects.findBy('target', targetName(targetOf(object))),
    ...objects.findBy('hpa', hpaKeyOf(object)),
  ];
  return [...new Set(found)];
}

/** The key of the HPA that an object has. */
export function hpaKeyOf(object: ScaledObject): string {
  return `${object.metadata.namespace}/${hpaNameOf(object)}`;
}

function keysOf(objects: readonly (ScaledObject | ScaledJob)[]): readonly string[] {
  return objects.map(({ metadata }) => keyOf(metadata));
}

/** HPAs, found by their targets. */
export function followHpas(resource: ApiResource, following: FollowOptions): NamespacedObjects<ManagedHpa> {
  return new NamespacedObjects(
    {
      resource,
      transform: (value) => readBoundedObject(value) as ManagedHpa,
      indexes: { target: targetNamesOf },
    },
    following,
  );
}

/** HPAs of the target of a ScaledObject, and that which has the name of its own. */
export function hpasBeside(
  hpas: Pick<NamespacedObjects<ManagedHpa>, 'find' | 'findBy'>,
  object: ScaledObject,
): readonly ManagedHpa[] {
  const named = hpas.find(`${object.metadata.namespace}/${hpaNameOf(object)}`);
  const found = hpas.findBy('target', targetName(targetOf(object)));
  return named ? [...new Set([named, ...found])] : found;
}

/** The ScaledObjects that an HPA belongs to, or did; none where nothing of it changes that they go by. */
export function ownersOf({ previous, current }: ObjectChange<ManagedHpa>): ReadonlySet<string> {
  if (previous && current && isSameForOwner(previous, current)) return new Set();
  return new Set(
    [previous, current].flatMap((hpa) => {
      const owner = hpa && controllerOf(hpa);
      return owner?.kind === 'ScaledObject' ? [`${hpa?.metadata.namespace}/${owner.name}`] : [];
    }),
  );
}

/** What the target of an HPA is called; nothing where it names none. */
export function targetNamesOf({ metadata, spec }: ManagedHpa): readonly string[] {
  const { apiVersion = '', kind, name } = spec?.scaleTargetRef ?? {};
  if (kind === undefined || name === undefined) return [];
  return [targetName({ apiVersion, kind, name, namespace: metadata.namespace ?? '' })];
}

/** What an HPA reads and decides changes all the time; what it says of its scaling hardly does. */
function isSameForOwner(previous: ManagedHpa, current: ManagedHpa): boolean {
  const parts = ({ metadata, spec, status }: ManagedHpa) => [
    ...[metadata.uid, metadata.labels, metadata.annotations, metadata.ownerReferences],
    ...[metadata.deletionTimestamp, spec, status?.conditions?.find(({ type }) => type === 'ScalingActive')],
  ];
  return isDeepStrictEqual(parts(previous), parts(current));
}

/** An HPA, as far as ScaledObjects need it. */
export interface ManagedHpa extends KubernetesObject {
  readonly spec?: {
    readonly scaleTargetRef?: {
      readonly apiVersion?: string;
      readonly kind?: string;
      readonly name?: string;
    };
  };
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason?: string;
      readonly message?: string;
    }[];
  };
}
