import { getOwn } from '#lib/kubernetes/get-own.ts';
import { type Hpa as CachedHpa, HPAS, type HpaNeeds } from '#lib/kubernetes/objects/hpa-versions.ts';
import { type CronHpa, nameOf, type ScaleTargetRef } from './cron-hpa.ts';

/** What else there is about a target. */
export interface OtherScalers {
  /** The HPA that scales it. */
  readonly hpa: Hpa | undefined;
  /** CronHorizontalPodAutoscalers of the same target, which may be the object itself. */
  readonly others: Iterable<CronHpa>;
}

/** Why nothing may be scaled for an object, whatever is due. */
export function hindranceOf(object: CronHpa, { hpa, others }: OtherScalers): Hindrance | undefined {
  const { kind, name } = object.spec.scaleTargetRef;
  const rival = rivalOf(object, others);
  if (rival) {
    const message = `CronHorizontalPodAutoscaler "${rival.name}" scales ${kind} "${name}", too; neither does until one of both is gone`;
    return { reason: 'TargetConflict', message };
  }
  if (hpa?.controller?.kind !== 'ScaledObject') return undefined;
  const message = `HorizontalPodAutoscaler "${hpa.name}" belongs to ScaledObject "${hpa.controller.name}", which alone changes it`;
  return { reason: 'OwnedByScaledObject', message };
}

/** Where the kinds of a group went that Kubernetes has given up. */
const MOVED_GROUPS: ReadonlyMap<string, string> = new Map([['extensions', 'apps']]);

/** What is the same for two references to one object of a namespace, whatever versions they name. */
export function targetKey(namespace: string, { apiVersion, kind, name }: ScaleTargetRef): string {
  const slash = apiVersion.indexOf('/');
  const group = slash === -1 ? '' : apiVersion.slice(0, slash);
  return [namespace, MOVED_GROUPS.get(group) ?? group, kind, name].join('/');
}

/** The first other object, by its name, that scales what an object scales. */
export function rivalOf(object: CronHpa, others: Iterable<CronHpa>): CronHpa | undefined {
  const target = targetKey(object.namespace, object.spec.scaleTargetRef);
  let rival: CronHpa | undefined;
  for (const other of others) {
    if (other.namespace !== object.namespace || other.name === object.name || other.isBeingDeleted) continue;
    if (targetKey(other.namespace, other.spec.scaleTargetRef) !== target) continue;
    if (!rival || nameOf(other) < nameOf(rival)) rival = other;
  }
  return rival;
}

/** A HorizontalPodAutoscaler, as far as we need it. */
export interface Hpa {
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** The object that made it and is responsible for it. */
  readonly controller?: { readonly kind: string; readonly name: string } | undefined;
  readonly scaleTargetRef: {
    readonly apiVersion?: string | undefined;
    readonly kind: string;
    readonly name: string;
  };
  readonly minReplicas: number;
  readonly maxReplicas: number;
}

/** Remembers on an HPA the maxReplicas that a job has raised, and to what: `5>8`. */
export const RAISED_MAX = 'autoscaling.stke.com/cron-hpa-raised-max-replicas';

/** What Cron-HPA needs of HPAs. */
export const HPA_NEEDS: HpaNeeds = {
  fields: ['resourceVersion', 'ownerReferences'],
  annotations: (key) => key === RAISED_MAX,
};

/** An HPA as Cron-HPA sees it; of its annotations the one alone that is ours. */
export function targetedHpa({ metadata, spec }: CachedHpa): Hpa {
  const { namespace, name, resourceVersion = '', annotations = {}, ownerReferences = [] } = metadata;
  const { scaleTargetRef, maxReplicas, minReplicas = 1 } = spec;
  const raisedMax = getOwn(annotations, RAISED_MAX);
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
    annotations: raisedMax === undefined ? {} : { [RAISED_MAX]: raisedMax },
  };
}

const decodeHpa = HPAS.decoder([HPA_NEEDS], 'v2'); // what it needs has the same fields in each version

/** Takes what the API server sent for an HPA, in whichever version; `undefined` if it is none. */
export function readHpa(value: unknown): Hpa | undefined {
  try {
    return targetedHpa(decodeHpa(value));
  } catch {
    return undefined;
  }
}

/** The HPA that scales what an object scales, or that is itself what the object names. */
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

/** What an object scales, by which it is found. */
export function targetsOfCronHpa({ namespace, spec, problem }: CronHpa): readonly string[] {
  return problem !== undefined ? [] : [targetKey(namespace, spec.scaleTargetRef)];
}

/** What an HPA scales, and itself. */
export function targetsOfHpa({ namespace, name, scaleTargetRef }: Hpa): readonly string[] {
  const { apiVersion = '', ...target } = scaleTargetRef;
  return [
    targetKey(namespace, { apiVersion, ...target }),
    targetKey(namespace, { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', name }),
  ];
}

/** Why an object cannot do what it is meant to do. */
export interface Hindrance {
  readonly reason: 'TargetConflict' | 'OwnedByScaledObject' | 'InvalidSpec' | 'InvalidJobs' | 'ScalingFailed';
  readonly message: string;
}
