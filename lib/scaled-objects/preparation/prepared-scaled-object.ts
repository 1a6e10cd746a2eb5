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

/** What a ScaledObject and a ScaledJob have in common once they are compiled. */
export interface PreparedObject {
  readonly uid: string | undefined;
  readonly generation: number | undefined;
  readonly namespace: string;
  readonly name: string;
  /** They do not raise the generation, so that they are read again whenever they change. */
  readonly annotations: KedaAnnotations;
  /** Whether it has a formula, be it one that can be used or not. */
  readonly hasFormula: boolean;
  /** The container whose environment triggers read; `undefined` for the first. */
  readonly envSourceContainer: string | undefined;
}

/** What an object scales. */
export interface PreparedTarget {
  readonly ref: ScaleTarget;
  /** As informers index it: `KIND NAMESPACE/NAME`. */
  readonly key: string;
  /** `apps/v1.Deployment`, as status and events name a kind; a kind of the core group begins with the slash. */
  readonly kindText: string;
  /** Whether an informer has its replicas and containers. */
  readonly isWorkload: boolean;
}

/** Numbers of replicas. */
interface ReplicaBounds {
  /** As the spec has it: 0 and none differ for the checks. */
  readonly min: number | undefined;
  readonly idle: number | undefined;
  readonly max: number;
  /** The minimum of the HPA, which has no 0. */
  readonly hpaMin: number;
}

/** Fields of the status that follow from the spec alone. */
export interface TriggerStatusFields {
  /** Types of triggers, each once, joined by commas. */
  readonly triggersTypes: string;
  /** Names of the authentications of triggers, each once, joined by commas. */
  readonly authenticationsTypes: string;
}

/** What a ScaledObject means: its spec, compiled once for each generation, and its annotations. */
export interface PreparedScaledObject extends PreparedObject {
  /** `creationTimestamp`; the empty string where it has none. */
  readonly createdAt: string;
  readonly target: PreparedTarget;
  readonly hpaName: string;
  /** `NAMESPACE/NAME` of the HPA. */
  readonly hpaKey: string;
  /** The HPA that the spec names; `undefined` where {@link hpaName} is the default. */
  readonly givenHpaName: string | undefined;
  readonly pollingMs: number;
  readonly cooldownMs: number;
  readonly initialCooldownMs: number;
  readonly bounds: ReplicaBounds;
  /** Whether it has nothing but triggers that the HPA controller reads itself. */
  readonly isResourcesOnly: boolean;
  /** The formula and its targets; `undefined` where it has none, or none that can be used. */
  readonly modifiers: Modifiers | undefined;
  /** Why the formula cannot be used; reported in a condition. */
  readonly modifiersError: Error | undefined;
  /** The fallback that counts; `undefined` where it has none, or none that can be used. */
  readonly fallback: Fallback | undefined;
  /** Whether the fallback depends on how many replicas there are. */
  readonly needsReplicas: boolean;
  /** Settings of the spec that have no effect, each in a sentence. */
  readonly ineffectiveSettings: readonly string[];
  readonly statusFields: TriggerStatusFields;
}

/**
 * Compiles a ScaledObject; pure, and throws for none. Parsing the formula is expensive: {@link PreparedObjects} has the result
 * for as long as the generation stays the same.
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

/** Whether the replicas of a fallback depend on how many there are. */
export function needsReplicas({ behavior = 'static' }: Fallback): boolean {
  return !['', 'static', 'scalingModifiers'].includes(behavior);
}

const RELEVANT = 'minReplicaCount = 0 or idleReplicaCount = 0';

/** An HPA alone scales what never rests, so that periods have no effect there. */
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

/** What the status reports of the specs of triggers. */
export function describeTriggers(triggers: readonly TriggerSpec[]): TriggerStatusFields {
  const authentications = triggers.flatMap(({ authenticationRef }) => authenticationRef?.name ?? []);
  return {
    triggersTypes: [...new Set(triggers.map(({ type }) => type))].join(','),
    authenticationsTypes: [...new Set(authentications)].join(','),
  };
}
