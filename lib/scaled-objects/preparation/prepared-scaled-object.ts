import type { ScaleTarget } from '#lib/control/scale-client.ts';
import { toError } from '#lib/telemetry/error-text.ts';
import { type KedaAnnotations, readKedaAnnotations } from '../api/annotations.ts';
import {
  DEFAULT_POLLING_S,
  type Fallback,
  hpaKeyOf,
  hpaNameOf,
  type ScaledObject,
  type TriggerSpec,
  targetOf,
} from '../api/scaled-object.ts';
import { isWorkload, targetName } from '../api/target-workloads.ts';
import { type Modifiers, modifiersOf, RESOURCE_TRIGGERS } from './scaling-modifiers.ts';

const DEFAULT_COOLDOWN_S = 300;
const DEFAULT_MAX_REPLICAS = 100;

/** Common part of compiled ScaledObjects and ScaledJobs. */
export interface PreparedObject {
  readonly uid: string | undefined;
  readonly generation: number | undefined;
  readonly namespace: string;
  readonly name: string;
  /** Annotations do not change the generation, so they are read again for each change. */
  readonly annotations: KedaAnnotations;
  /** Whether a formula is set, valid or not. */
  readonly hasFormula: boolean;
  /** Container whose environment triggers read; `undefined` for the first. */
  readonly envSourceContainer: string | undefined;
}

export interface PreparedTarget {
  readonly ref: ScaleTarget;
  /** Index key of informers: `KIND NAMESPACE/NAME`. */
  readonly key: string;
  /** The kind in status and events, such as `apps/v1.Deployment`; for the core group with a leading slash, as in KEDA. */
  readonly kindText: string;
  /** Whether informers cache its kind. */
  readonly isWorkload: boolean;
}

interface ReplicaBounds {
  /** As in the spec: checks distinguish 0 from `undefined`. */
  readonly min: number | undefined;
  readonly idle: number | undefined;
  readonly max: number;
  /** `minReplicas` of the HPA, at least 1. */
  readonly hpaMin: number;
}

/** Status fields that depend only on the spec. */
export interface TriggerStatusFields {
  /** Distinct trigger types, comma-separated. */
  readonly triggersTypes: string;
  /** Distinct names of authentications, comma-separated. */
  readonly authenticationsTypes: string;
}

/** Compiled spec and annotations of a ScaledObject. */
export interface PreparedScaledObject extends PreparedObject {
  /** `creationTimestamp`, or the empty string. */
  readonly createdAt: string;
  readonly target: PreparedTarget;
  readonly hpaName: string;
  /** `NAMESPACE/NAME` of the HPA. */
  readonly hpaKey: string;
  /** The HPA name in the spec; `undefined` if {@link hpaName} is the default. */
  readonly givenHpaName: string | undefined;
  readonly pollingMs: number;
  readonly cooldownMs: number;
  readonly initialCooldownMs: number;
  readonly bounds: ReplicaBounds;
  /** Whether all triggers are cpu or memory. */
  readonly isResourcesOnly: boolean;
  /** `undefined` if there is no formula, or an invalid one. */
  readonly modifiers: Modifiers | undefined;
  /** Why the formula is invalid; reported in a condition. */
  readonly modifiersError: Error | undefined;
  /** `undefined` if there is no fallback, or an invalid one. */
  readonly fallback: Fallback | undefined;
  /** Whether the fallback depends on the current replicas. */
  readonly needsReplicas: boolean;
  /** One message for each setting of the spec that has no effect. */
  readonly ineffectiveSettings: readonly string[];
  readonly statusFields: TriggerStatusFields;
}

/**
 * Compiles a ScaledObject. Pure; never throws. Parsing the formula is expensive: use the cache of {@link PreparedObjects}.
 */
export function compileScaledObject(object: ScaledObject): PreparedScaledObject {
  const { metadata, spec } = object;
  const { uid, generation, namespace = '', name, creationTimestamp: createdAt = '' } = metadata;
  const { fallback: given, advanced, triggers, minReplicaCount: min } = spec;
  const isUsable = given !== undefined && given.failureThreshold >= 0 && given.replicas >= 0;
  const fallback = isUsable ? given : undefined;
  return {
    ...{ uid, generation, namespace, name, createdAt },
    annotations: readKedaAnnotations(object),
    envSourceContainer: spec.scaleTargetRef.envSourceContainerName,
    target: prepareTarget(object),
    hpaName: hpaNameOf(object),
    hpaKey: hpaKeyOf(object),
    givenHpaName: advanced?.horizontalPodAutoscalerConfig?.name,
    pollingMs: (spec.pollingInterval ?? DEFAULT_POLLING_S) * 1000,
    cooldownMs: (spec.cooldownPeriod ?? DEFAULT_COOLDOWN_S) * 1000,
    initialCooldownMs: (spec.initialCooldownPeriod ?? 0) * 1000,
    bounds: {
      min,
      idle: spec.idleReplicaCount,
      max: spec.maxReplicaCount ?? DEFAULT_MAX_REPLICAS,
      hpaMin: min || 1,
    },
    isResourcesOnly: triggers.every(({ type }) => RESOURCE_TRIGGERS.includes(type)),
    hasFormula: Boolean(advanced?.scalingModifiers?.formula),
    ...compileModifiers(object),
    fallback,
    needsReplicas: fallback !== undefined && needsReplicas(fallback),
    ineffectiveSettings: findIneffectiveSettings(object),
    statusFields: describeTriggers(triggers),
  };
}

function prepareTarget(object: ScaledObject): PreparedTarget {
  const ref = targetOf(object);
  const { apiVersion, kind } = ref;
  const kindText = `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}.${kind}`;
  return { ref, key: targetName(ref), kindText, isWorkload: isWorkload(ref) };
}

function compileModifiers(object: ScaledObject): Pick<PreparedScaledObject, 'modifiers' | 'modifiersError'> {
  try {
    return { modifiers: modifiersOf(object), modifiersError: undefined };
  } catch (error) {
    return { modifiers: undefined, modifiersError: toError(error) };
  }
}

export function needsReplicas({ behavior = 'static' }: Fallback): boolean {
  return !['', 'static', 'scalingModifiers'].includes(behavior);
}

const RELEVANT = 'minReplicaCount = 0 or idleReplicaCount = 0';

/** Polling interval and cooldown matter only for scaling to 0 or idle replicas; messages of KEDA. */
function findIneffectiveSettings({ spec }: ScaledObject): readonly string[] {
  const { minReplicaCount = 0, idleReplicaCount, pollingInterval, cooldownPeriod, triggers } = spec;
  if (minReplicaCount === 0 || idleReplicaCount === 0) return [];
  const isCached = triggers.some(({ useCachedMetrics }) => useCachedMetrics);
  return [
    ...(pollingInterval !== undefined && !isCached
      ? [
          `PollingInterval is configured but is not relevant. PollingInterval is only relevant when ${RELEVANT} or useCachedMetrics is enabled`,
        ]
      : []),
    ...(cooldownPeriod !== undefined
      ? [`CooldownPeriod is configured but is not relevant. CooldownPeriod is only relevant when ${RELEVANT}`]
      : []),
  ];
}

export function describeTriggers(triggers: readonly TriggerSpec[]): TriggerStatusFields {
  const authentications = triggers.flatMap(({ authenticationRef }) => authenticationRef?.name ?? []);
  return {
    triggersTypes: [...new Set(triggers.map(({ type }) => type))].join(','),
    authenticationsTypes: [...new Set(authentications)].join(','),
  };
}
