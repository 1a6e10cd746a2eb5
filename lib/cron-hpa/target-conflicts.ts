import { getOwn } from '#lib/kubernetes/get-own.ts';
import { type Hpa as CachedHpa, HPAS, type HpaNeeds } from '#lib/kubernetes/objects/hpa-versions.ts';
import {
  ADJUST_HPA_MIN,
  adjustmentOf,
  CRON_HPA,
  type CronHpa,
  nameOf,
  type ScaleTargetRef,
} from './cron-hpa.ts';

/** Other scalers of a target. */
export interface OtherScalers {
  readonly hpa: Hpa | undefined;
  /** CronHorizontalPodAutoscalers of the same target; may include the object itself. */
  readonly others: Iterable<CronHpa>;
}

/** Why nothing may be scaled for an object. */
export function findBlocker(object: CronHpa, { hpa, others }: OtherScalers): Blocker | undefined {
  const { kind, name } = object.spec.scaleTargetRef;
  const conflicting = findConflict(object, others);
  if (conflicting) {
    const conflictingKind = qualifiedKind(CRON_HPA.kind, object, conflicting);
    const message = `${conflictingKind} "${conflicting.name}" also scales ${kind} "${name}"; neither scales until one of them is deleted`;
    return { reason: 'TargetConflict', message };
  }
  if (hpa && adjustmentOf(object) === 'false') {
    const message = `HorizontalPodAutoscaler "${hpa.name}" scales ${kind} "${name}", and the annotation ${ADJUST_HPA_MIN}: "false" forbids CronHorizontalPodAutoscaler "${object.name}" to set its minReplicas`;
    return { reason: 'TargetConflict', message };
  }
  if (!hpa?.controller || !hasOwner(hpa)) return undefined;
  const message = `HorizontalPodAutoscaler "${hpa.name}" is managed by ScaledObject "${hpa.controller.name}"`;
  return { reason: 'OwnedByScaledObject', message };
}

/** The kind or short name of another object, with its API group where it has another one than the object. */
export function qualifiedKind(kind: string, { group }: CronHpa, other: CronHpa): string {
  return other.group === group ? kind : `${kind}.${other.group}`;
}

/** Groups that Kubernetes has replaced. */
const MOVED_GROUPS: ReadonlyMap<string, string> = new Map([['extensions', 'apps']]);

/** Equal for two references to one object, whatever API versions they name. */
export function targetKey(namespace: string, { apiVersion, kind, name }: ScaleTargetRef): string {
  const slash = apiVersion.indexOf('/');
  const group = slash === -1 ? '' : apiVersion.slice(0, slash);
  return [namespace, MOVED_GROUPS.get(group) ?? group, kind, name].join('/');
}

/** The first other object, by name, with the same target. */
export function findConflict(object: CronHpa, others: Iterable<CronHpa>): CronHpa | undefined {
  const target = targetKey(object.namespace, object.spec.scaleTargetRef);
  let conflicting: CronHpa | undefined;
  for (const other of others) {
    const isItself = other.name === object.name && other.group === object.group;
    if (other.namespace !== object.namespace || isItself || other.isBeingDeleted) continue;
    if (targetKey(other.namespace, other.spec.scaleTargetRef) !== target) continue;
    if (!conflicting || nameOf(other) < nameOf(conflicting)) conflicting = other;
  }
  return conflicting;
}

/** The fields of a HorizontalPodAutoscaler that Cron-HPA uses. */
export interface Hpa {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** The object that manages it. */
  readonly controller?: { readonly kind: string; readonly name: string } | undefined;
  readonly scaleTargetRef: {
    readonly apiVersion?: string | undefined;
    readonly kind: string;
    readonly name: string;
  };
  readonly minReplicas: number;
  readonly maxReplicas: number;
}

/** Whether a ScaledObject manages an HPA, and alone may change it. */
export function hasOwner({ controller }: Hpa): boolean {
  return controller?.kind === 'ScaledObject';
}

/** The annotation with maxReplicas before and after a job changed it: `5>8`. */
export const CHANGED_MAX = 'autoscaling.stke.com/cron-hpa-raised-max-replicas';
/** The same of minReplicas. */
export const CHANGED_MIN = 'autoscaling.stke.com/cron-hpa-min-replicas';
const OWN_ANNOTATIONS = [CHANGED_MIN, CHANGED_MAX] as const;

export const HPA_NEEDS: HpaNeeds = {
  fields: ['resourceVersion', 'ownerReferences'],
  annotations: (key) => key === CHANGED_MIN || key === CHANGED_MAX,
};

const NO_ANNOTATIONS = {};

/** Takes from a cached HPA what Cron-HPA uses; of its annotations its own only. */
export function targetedHpa({ metadata, spec }: CachedHpa): Hpa {
  const { namespace, name, resourceVersion = '', annotations = {}, ownerReferences = [] } = metadata;
  const { scaleTargetRef, maxReplicas, minReplicas = 1 } = spec;
  const own = OWN_ANNOTATIONS.flatMap((key) => {
    const value = getOwn(annotations, key);
    return value === undefined ? [] : [[key, value] as const];
  });
  const controller = ownerReferences.find(
    (owner) => owner.controller === true || owner.kind === 'ScaledObject',
  );
  return {
    namespace,
    name,
    resourceVersion,
    controller,
    scaleTargetRef,
    minReplicas,
    maxReplicas,
    annotations: own.length === 0 ? NO_ANNOTATIONS : Object.fromEntries(own),
  };
}

const decodeHpa = HPAS.decoder([HPA_NEEDS], 'v2'); // the fields are the same in each version

/** Decodes an HPA of any API version; `undefined` when it is malformed. */
export function readHpa(value: unknown): Hpa | undefined {
  try {
    return targetedHpa(decodeHpa(value));
  } catch {
    return undefined;
  }
}

/** The HPA that scales the target of an object, or that is itself the target. */
export function hpaOf({ namespace, spec }: CronHpa, hpas: Iterable<Hpa>): Hpa | undefined {
  const { kind, name } = spec.scaleTargetRef;
  const target = targetKey(namespace, spec.scaleTargetRef);
  for (const hpa of hpas) {
    if (hpa.namespace !== namespace) continue;
    if (kind === 'HorizontalPodAutoscaler') {
      if (hpa.name === name) return hpa;
      continue;
    }
    const { apiVersion = '', ...reference } = hpa.scaleTargetRef;
    if (targetKey(namespace, { apiVersion, ...reference }) === target) return hpa;
  }
  return undefined;
}

/** The key of the target; none for an invalid object. */
export function targetsOfCronHpa({ namespace, spec, problem }: CronHpa): readonly string[] {
  return problem !== undefined ? [] : [targetKey(namespace, spec.scaleTargetRef)];
}

/** The keys of the target and of the HPA itself, which an object may name as its target. */
export function targetsOfHpa({ namespace, name, scaleTargetRef }: Hpa): readonly string[] {
  const { apiVersion = '', ...target } = scaleTargetRef;
  return [
    targetKey(namespace, { apiVersion, ...target }),
    targetKey(namespace, { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', name }),
  ];
}

/** Why an object cannot scale. */
export interface Blocker {
  readonly reason: 'TargetConflict' | 'OwnedByScaledObject' | 'InvalidSpec' | 'InvalidJobs' | 'ScalingFailed';
  readonly message: string;
}
