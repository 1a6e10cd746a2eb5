import { isDeepStrictEqual } from 'node:util';
import { mapKeys, type Watched } from '#lib/control/controller.ts';
import { controllerOf } from '#lib/control/owner-references.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import type { ObjectChange } from '#lib/kubernetes/informer/object-store.ts';
import type { InformedKind, SharedInformer } from '#lib/kubernetes/informer/shared-informers.ts';
import { HPAS, type Hpa, type HpaNeeds } from '#lib/kubernetes/objects/hpa-versions.ts';
import { type KubernetesObject, keyOf, propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { LineBudgets } from '#lib/telemetry/line-budget.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import {
  type CachedObject,
  namespaceBudget,
  readScaledJob,
  readScaledObject,
  readTriggerAuthentication,
} from './cached-objects.ts';
import {
  CLUSTER_TRIGGER_AUTHENTICATIONS,
  FIELD_MANAGER,
  SCALED_JOBS,
  SCALED_OBJECTS,
  TRIGGER_AUTHENTICATIONS,
} from './resources.ts';
import type { ScaledJob } from './scaled-job.ts';
import { hpaKeyOf, type ScaledObject, targetOf } from './scaled-object.ts';
import { type InformerScope, targetName, Workloads } from './target-workloads.ts';
import {
  AUTHENTICATION_KINDS,
  authenticationNames,
  type TriggerAuthentication,
} from './trigger-authentication.ts';

/** What every replica caches of its own kinds, and of what they scale. */
interface FollowedObjects {
  readonly objects: SharedInformer<ScaledObject>;
  readonly scaledJobs: SharedInformer<ScaledJob>;
  readonly authentications: SharedInformer<TriggerAuthentication>;
  readonly clusterAuthentications: SharedInformer<TriggerAuthentication>;
  readonly workloads: Workloads;
  readonly hpas: SharedInformer<Hpa>;
  /** Has ScaledObjects looked at whose target changes. */
  readonly targets: Watched;
  /** Has ScaledObjects looked at whose authentications change. */
  readonly authenticationsOfObjects: readonly Watched[];
  readonly authenticationsOfJobs: readonly Watched[];
  /** One by its kind and key. */
  authentication(kind: string, key: string): TriggerAuthentication | undefined;
  /** What tells apart what an object refers to from what it was before: which they are, and as of when. */
  authenticationsOf(object: ScaledObject | ScaledJob): readonly string[];
  /** Begins to cache our own kinds, and HPAs and workloads once these have been listed. */
  start(signal: AbortSignal): Promise<void>;
  /** Whether our own kinds are not served, or may not be listed. */
  readonly isWaiting: boolean;
  readonly isSynced: boolean;
}

const SCALED_OBJECT_KIND = informedKind(SCALED_OBJECTS, readScaledObject);
const SCALED_JOB_KIND = informedKind(SCALED_JOBS, readScaledJob);
const AUTHENTICATION_KIND = informedKind(TRIGGER_AUTHENTICATIONS, readTriggerAuthentication);
const CLUSTER_AUTHENTICATION_KIND = informedKind(CLUSTER_TRIGGER_AUTHENTICATIONS, readTriggerAuthentication);

/** A kind of which a namespace has a bounded share of the cache. */
function informedKind<T extends CachedObject>(
  resource: ApiResource,
  read: (value: unknown) => T,
): InformedKind<T> {
  return {
    ...{ resource, versions: [resource.version], budget: namespaceBudget() },
    decoder: () => read,
  };
}

/** KEDA's operator by the name that its binary gives it. */
const MANAGER = /^keda/;
/** It has its own version in this one, so that it takes the label from us as it keeps its HPA in step. */
const LABEL = 'f:app.kubernetes.io/version';

/** Whether an entry of `managedFields` has the label of an HPA by which KEDA's operator cannot but write over ours. */
export function isKedaLabelEntry(entry: unknown): boolean {
  const manager = propertyOf(entry, 'manager');
  const labels = propertyOf(propertyOf(propertyOf(entry, 'fieldsV1'), 'f:metadata'), 'f:labels');
  return typeof manager === 'string' && MANAGER.test(manager) && propertyOf(labels, LABEL) !== undefined;
}

/** What ScaledObjects need of HPAs: what they have applied, and what KEDA writes. */
const HPA_NEEDS: HpaNeeds = {
  fields: ['metadata', 'spec', 'conditions'],
  managedFields: (entry) => propertyOf(entry, 'manager') === FIELD_MANAGER || isKedaLabelEntry(entry),
};

/** What objects are followed with. */
interface FollowOptions extends InformerScope {
  readonly logger: Logger;
  readonly clock: Clock;
}

/** Declares what is cached; it begins with `start()`. */
export function followObjects({ informers, namespaces, ...log }: FollowOptions): FollowedObjects {
  const objects = informers.get(SCALED_OBJECT_KIND, {
    namespaces,
    indexes: {
      hpa: (object) => [hpaKeyOf(object)],
      target: (object) => [targetName(targetOf(object))],
      authentication: authenticationNames,
    },
  });
  const scaledJobs = informers.get(SCALED_JOB_KIND, {
    namespaces,
    indexes: { authentication: authenticationNames },
  });
  const authentications = informers.get(AUTHENTICATION_KIND, { namespaces });
  const clusterAuthentications = informers.get(CLUSTER_AUTHENTICATION_KIND, {});
  const workloads = new Workloads({ informers, namespaces });
  const hpas = informers.get(HPAS, { needs: HPA_NEEDS, namespaces, indexes: { target: targetNamesOf } });
  const own = [objects, scaledJobs, authentications, clusterAuthentications];
  const authentication = (kind: string, key: string) =>
    (kind === AUTHENTICATION_KINDS[1] ? clusterAuthentications : authentications).find(key);
  const whoRefer = (users: SharedInformer<ScaledObject> | SharedInformer<ScaledJob>) =>
    [authentications, clusterAuthentications].map((one, index) =>
      mapKeys(one, ({ key }) =>
        keysOf(users.findBy('authentication', `${AUTHENTICATION_KINDS[index]} ${key}`)),
      ),
    );
  for (const [kind, one] of Object.entries({ ScaledObject: objects, ScaledJob: scaledJobs }))
    logOmitted(kind, one, log);
  for (const [index, one] of [authentications, clusterAuthentications].entries())
    logOmitted(AUTHENTICATION_KINDS[index] ?? '', one, log);
  return {
    ...{ objects, scaledJobs, authentications, clusterAuthentications, workloads, hpas, authentication },
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
    async start(signal) {
      for (const informer of own) informer.start();
      await Promise.all(own.map((informer) => informer.synced(signal)));
      workloads.start();
      hpas.start();
    },
    get isWaiting() {
      return own.some(({ state }) => state === 'idle' || state === 'waiting' || state === 'forbidden');
    },
    get isSynced() {
      return [...own, workloads, hpas].every((one) => one.isSynced);
    },
  };
}

/** In an hour, of objects of one kind in one namespace. */
const MAX_OMITTED_LINES = 10;

/** Logs which objects cannot be used, and why. */
function logOmitted(
  kind: string,
  objects: Pick<SharedInformer<CachedObject>, 'onChange'>,
  { logger, clock }: Omit<FollowOptions, keyof InformerScope>,
): void {
  const budgets = new LineBudgets(clock, MAX_OMITTED_LINES);
  objects.onChange(({ key, previous, current }) => {
    if (current?.omitted === undefined || current.omitted === previous?.omitted) return;
    const line = budgets.of(current.metadata.namespace ?? '').take(true);
    if (line) logger.warning('Cannot use an object', { kind, object: key, why: current.omitted, ...line });
  });
}

/** What overlapping objects and HPAs are found by, as {@link followObjects} indexes them. */
interface OverlapKeys {
  readonly target: { readonly key: string };
  readonly hpaKey: string;
}

/** Objects that have the target of one, or an HPA of the same name; it is among them. */
export function findOverlapping(
  objects: Pick<SharedInformer<ScaledObject>, 'findBy'>,
  { target, hpaKey }: OverlapKeys,
): readonly ScaledObject[] {
  return [...new Set([...objects.findBy('target', target.key), ...objects.findBy('hpa', hpaKey)])];
}

function keysOf(objects: readonly (ScaledObject | ScaledJob)[]): readonly string[] {
  return objects.map(({ metadata }) => keyOf(metadata));
}

/** HPAs of the target of a ScaledObject, and that which has the name of its own. */
export function hpasBeside(
  hpas: Pick<SharedInformer<ManagedHpa>, 'find' | 'findBy'>,
  { target, hpaKey }: OverlapKeys,
): readonly ManagedHpa[] {
  const named = hpas.find(hpaKey);
  const found = hpas.findBy('target', target.key);
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

/** An HPA as ScaledObjects read it, cached or as the API server sends it. */
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
