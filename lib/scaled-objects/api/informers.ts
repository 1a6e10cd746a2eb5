import { isDeepStrictEqual } from 'node:util';
import { mapKeys, type Watched } from '#lib/control/controller.ts';
import { controllerOf } from '#lib/control/owner-references.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import { logOmitted } from '#lib/kubernetes/informer/log-omitted.ts';
import type { ObjectChange } from '#lib/kubernetes/informer/object-store.ts';
import type { InformedKind, SharedInformer } from '#lib/kubernetes/informer/shared-informers.ts';
import type { HpaSpec, HpaStatus } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { HPAS, type Hpa, type HpaNeeds } from '#lib/kubernetes/objects/hpa-versions.ts';
import { type KubernetesObject, keyOf, propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
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

/** Informers of every replica: KEDA's kinds, their scale targets and HPAs. */
interface ObjectInformers {
  readonly objects: SharedInformer<ScaledObject>;
  readonly scaledJobs: SharedInformer<ScaledJob>;
  readonly authentications: SharedInformer<TriggerAuthentication>;
  readonly clusterAuthentications: SharedInformer<TriggerAuthentication>;
  readonly workloads: Workloads;
  readonly hpas: SharedInformer<Hpa>;
  /** Reconciles ScaledObjects whose target changes. */
  readonly targets: Watched;
  /** Reconciles ScaledObjects whose authentications change, one source for each authentication kind. */
  readonly authenticationsOfObjects: readonly Watched[];
  readonly authenticationsOfJobs: readonly Watched[];
  authentication(kind: string, key: string): TriggerAuthentication | undefined;
  /** UID and generation of each authentication that an object refers to; compare them to detect a change. */
  authenticationsOf(object: ScaledObject | ScaledJob): readonly string[];
  /** Starts the informers of KEDA's kinds, and those of HPAs and workloads once these are synced. */
  start(signal: AbortSignal): Promise<void>;
  /** Whether a kind of KEDA's is not served or may not be listed. */
  readonly isWaiting: boolean;
  readonly isSynced: boolean;
}

const SCALED_OBJECT_KIND = informedKind(SCALED_OBJECTS, readScaledObject);
const SCALED_JOB_KIND = informedKind(SCALED_JOBS, readScaledJob);
const AUTHENTICATION_KIND = informedKind(TRIGGER_AUTHENTICATIONS, readTriggerAuthentication);
const CLUSTER_AUTHENTICATION_KIND = informedKind(CLUSTER_TRIGGER_AUTHENTICATIONS, readTriggerAuthentication);

/** Bounds the share of the cache that a namespace uses. */
function informedKind<T extends CachedObject>(
  resource: ApiResource,
  read: (value: unknown) => T,
): InformedKind<T> {
  return {
    ...{ resource, versions: [resource.version], budget: namespaceBudget() },
    decoder: () => read,
  };
}

/** Field managers of KEDA's operator; the API server derives them from the name of its binary. */
const MANAGER = /^keda/;
/** KEDA's operator sets its own version here, so an update of the HPA by KEDA takes this label over. */
const LABEL = 'f:app.kubernetes.io/version';

/** Whether an entry of an HPA's `managedFields` shows that KEDA's operator wrote the version label. */
export function isKedaLabelEntry(entry: unknown): boolean {
  const manager = propertyOf(entry, 'manager');
  const labels = propertyOf(propertyOf(propertyOf(entry, 'fieldsV1'), 'f:metadata'), 'f:labels');
  return typeof manager === 'string' && MANAGER.test(manager) && propertyOf(labels, LABEL) !== undefined;
}

/** Only the `managedFields` entries of this controller and of KEDA are cached. */
const HPA_NEEDS: HpaNeeds = {
  fields: ['metadata', 'spec', 'conditions'],
  managedFields: (entry) => propertyOf(entry, 'manager') === FIELD_MANAGER || isKedaLabelEntry(entry),
};

const OMITTED = 'Cannot use object';

interface InformerOptions extends InformerScope {
  readonly logger: Logger;
  readonly clock: Clock;
}

/** Declares the informers; `start()` starts them. */
export function declareInformers({ informers, namespaces, ...log }: InformerOptions): ObjectInformers {
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
  const watchReferences = (users: SharedInformer<ScaledObject> | SharedInformer<ScaledJob>) =>
    [authentications, clusterAuthentications].map((one, index) =>
      mapKeys(one, ({ key }) =>
        keysOf(users.findBy('authentication', `${AUTHENTICATION_KINDS[index]} ${key}`)),
      ),
    );
  for (const [kind, one] of Object.entries({ ScaledObject: objects, ScaledJob: scaledJobs }))
    logOmitted(one, { ...log, kind, message: OMITTED });
  for (const [index, one] of [authentications, clusterAuthentications].entries())
    logOmitted(one, { ...log, kind: AUTHENTICATION_KINDS[index] ?? '', message: OMITTED });
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
    authenticationsOfObjects: watchReferences(objects),
    authenticationsOfJobs: watchReferences(scaledJobs),
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

/** Index keys of {@link declareInformers}. */
interface OverlapKeys {
  readonly target: { readonly key: string };
  readonly hpaKey: string;
}

/** ScaledObjects with the same target or the same HPA name, including the object itself. */
export function findOverlapping(
  objects: Pick<SharedInformer<ScaledObject>, 'findBy'>,
  { target, hpaKey }: OverlapKeys,
): readonly ScaledObject[] {
  return [...new Set([...objects.findBy('target', target.key), ...objects.findBy('hpa', hpaKey)])];
}

function keysOf(objects: readonly (ScaledObject | ScaledJob)[]): readonly string[] {
  return objects.map(({ metadata }) => keyOf(metadata));
}

/** HPAs with the same target or the same name as the HPA of a ScaledObject, including its own. */
export function findOverlappingHpas(
  hpas: Pick<SharedInformer<ManagedHpa>, 'find' | 'findBy'>,
  { target, hpaKey }: OverlapKeys,
): readonly ManagedHpa[] {
  const named = hpas.find(hpaKey);
  const found = hpas.findBy('target', target.key);
  return named ? [...new Set([named, ...found])] : found;
}

/** Keys of the ScaledObjects that own an HPA before or after a change; empty if the change does not concern them. */
export function findOwners({ previous, current }: ObjectChange<ManagedHpa>): ReadonlySet<string> {
  if (previous && current && isSameForOwner(previous, current)) return new Set();
  return new Set(
    [previous, current].flatMap((hpa) => {
      const owner = hpa && controllerOf(hpa);
      return owner?.kind === 'ScaledObject' ? [`${hpa?.metadata.namespace}/${owner.name}`] : [];
    }),
  );
}

/** Index keys of the target of an HPA, as {@link targetName} builds them; empty if it has none. */
export function targetNamesOf({ metadata, spec }: ManagedHpa): readonly string[] {
  const { apiVersion = '', kind, name } = spec?.scaleTargetRef ?? {};
  if (kind === undefined || name === undefined) return [];
  return [targetName({ apiVersion, kind, name, namespace: metadata.namespace ?? '' })];
}

/** Ignores metrics and replicas in the status, which change with every sync of the HPA. */
function isSameForOwner(previous: ManagedHpa, current: ManagedHpa): boolean {
  const parts = ({ metadata, spec, status }: ManagedHpa) => [
    ...[metadata.uid, metadata.labels, metadata.annotations, metadata.ownerReferences],
    ...[metadata.deletionTimestamp, spec, status?.conditions?.find(({ type }) => type === 'ScalingActive')],
  ];
  return isDeepStrictEqual(parts(previous), parts(current));
}

/** Fields of an HPA that ScaledObjects use. */
export interface ManagedHpa extends KubernetesObject {
  readonly spec?: { readonly scaleTargetRef?: Partial<HpaSpec['scaleTargetRef']> };
  readonly status?: Pick<HpaStatus, 'conditions'>;
}
