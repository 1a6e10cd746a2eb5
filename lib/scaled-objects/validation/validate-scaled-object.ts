import type { Workload } from '#lib/kubernetes/objects/workload.ts';
import { type KedaAnnotations, PAUSED_REPLICAS } from '../api/annotations.ts';
import type { ScaledObject, TriggerSpec } from '../api/scaled-object.ts';
import { MAX_TRIGGERS } from '../preparation/prepare-triggers.ts';
import type { PreparedScaledObject } from '../preparation/prepared-scaled-object.ts';
import { RESOURCE_TRIGGERS } from '../preparation/scaling-modifiers.ts';
import { CheckFailure, STEPS, violation } from './check-failure.ts';
import { type Conflicts, checkConflicts } from './find-conflicts.ts';

const MAX_NAME_LENGTH = 63;

export interface ValidationContext extends Conflicts {
  /** The object itself. */
  readonly prepared: PreparedScaledObject;
  /** The target, if informers cache its kind. */
  readonly workload: Workload | undefined;
  /** Resources for which a LimitRange of the namespace sets a default. */
  readonly limitedByDefault: readonly string[];
}

/** Checks rules that the schema cannot express, with KEDA's messages. @throws {CheckFailure} for the first violation */
export function checkScaledObject(object: ScaledObject, neighbours: ValidationContext): void {
  const { prepared } = neighbours;
  checkNames(prepared);
  checkConflicts(prepared, neighbours);
  checkReplicas(prepared);
  checkTriggers(object);
  checkResources(object, neighbours);
  checkFallback(object, prepared);
  checkModifiers(prepared);
}

function checkNames({ name, hpaName }: PreparedScaledObject): void {
  if (name.length > MAX_NAME_LENGTH)
    throw violation(
      'name-too-long',
      `ScaledObject name length is ${name.length}, maximum allowed is ${MAX_NAME_LENGTH}`,
    );
  if (hpaName.length > MAX_NAME_LENGTH)
    throw violation(
      'hpa-name-too-long',
      `HPA name length is ${hpaName.length}, maximum allowed is ${MAX_NAME_LENGTH}`,
    );
}

function checkReplicas({ bounds }: PreparedScaledObject): void {
  const { min = 0, idle, max } = bounds;
  if (min > max)
    throw violation('incorrect-replicas', `MinReplicaCount=${min} must be less than MaxReplicaCount=${max}`);
  const minimum = bounds.min === 0 ? 1 : min; // as in KEDA, an explicit 0 counts as the HPA's minimum of 1
  if (idle !== undefined && idle >= minimum)
    throw violation(
      'incorrect-replicas',
      `IdleReplicaCount=${idle} must be less than MinReplicaCount=${minimum}`,
    );
}

function checkTriggers({ spec }: ScaledObject): void {
  const broken = brokenByTriggers(spec.triggers);
  if (broken) throw violation('incorrect-triggers', broken);
}

function checkResources(
  { spec }: ScaledObject,
  { prepared, workload, limitedByDefault }: ValidationContext,
): void {
  for (const { type, metadata } of spec.triggers.filter(({ type }) => RESOURCE_TRIGGERS.includes(type))) {
    const container = metadata.containerName;
    const bare = workload?.containers.find(
      ({ name, resources }) => (!container || name === container) && !resources.includes(type),
    );
    if (bare && !limitedByDefault.includes(type))
      throw violation(
        'missing-requests',
        `the scaledobject has a ${type} trigger but the container ${bare.name} doesn't have the ${type} request defined`,
      );
  }
  if (prepared.isResourcesOnly && !prepared.bounds.min)
    throw violation(
      'scale-to-zero-requirements-not-met',
      "scaledobject has only cpu/memory triggers AND minReplica is 0 (scale to zero doesn't work in this case)",
    );
}

function checkFallback({ spec: { fallback } }: ScaledObject, prepared: PreparedScaledObject): void {
  const { hasFormula, isResourcesOnly } = prepared;
  if (!fallback) return;
  const { failureThreshold, replicas, behavior } = fallback;
  if (failureThreshold < 0 || replicas < 0)
    throw violation(
      'incorrect-fallback',
      `FailureThreshold=${failureThreshold} & Replicas=${replicas} must both be greater than or equal to 0`,
    );
  if (!hasFormula && isResourcesOnly)
    throw violation(
      'incorrect-fallback',
      'at least one trigger (that is not cpu or memory) has to have the `AverageValue` type for the fallback to be enabled',
    );
  if (behavior === 'scalingModifiers' && !hasFormula)
    throw violation(
      'scaling-modifiers-fallback',
      'scalingModifiers fallback behavior requires scalingModifiers.formula to be defined',
    );
}

function checkModifiers({ modifiersError: cause }: PreparedScaledObject): void {
  if (cause) throw violation('scaling-modifiers', cause.message, { cause });
}

const UNCACHED = ['cpu', 'memory', 'cron'];

/** The first violation among the triggers of a ScaledObject or ScaledJob; `undefined` if there is none. */
export function brokenByTriggers(triggers: readonly TriggerSpec[]): string | undefined {
  if (triggers.length === 0) return 'no triggers defined in the ScaledObject/ScaledJob';
  if (triggers.length > MAX_TRIGGERS)
    return `the ScaledObject/ScaledJob has ${triggers.length} triggers, maximum allowed is ${MAX_TRIGGERS}`;
  const names = new Set<string>();
  for (const { name, type, useCachedMetrics } of triggers) {
    if (name && names.has(name))
      return `triggerName "${name}" is defined multiple times in the ScaledObject/ScaledJob, but it must be unique`;
    if (name) names.add(name);
    if (useCachedMetrics && UNCACHED.includes(type))
      return `property "useCachedMetrics" is not supported for "${type}" scaler`;
  }
  return undefined;
}

/**
 * Checks an object, and reads the LimitRanges of its namespace only if a container lacks a request.
 *
 * @throws {CheckFailure} for the first violation; errors of `loadDefaults`
 */
export async function checkWithDefaults(
  object: ScaledObject,
  neighbours: Omit<ValidationContext, 'limitedByDefault'>,
  loadDefaults: () => Promise<ValidationContext['limitedByDefault']>,
): Promise<void> {
  try {
    checkScaledObject(object, { ...neighbours, limitedByDefault: [] });
  } catch (error) {
    if (!(error instanceof CheckFailure) || error.rule !== 'missing-requests') throw error;
    checkScaledObject(object, { ...neighbours, limitedByDefault: await loadDefaults() });
  }
}

const MAX_REPLICAS = 2 ** 31 - 1;

/**
 * The replicas of a paused object by its annotation; `undefined` leaves the target as it is.
 *
 * @throws {CheckFailure} for a text that is not a number of replicas
 */
export function parsePausedReplicas({ pausedReplicas: text }: KedaAnnotations): number | undefined {
  if (text === undefined) return undefined;
  const replicas = Number(text);
  if (!/^\d{1,10}$/.test(text) || replicas > MAX_REPLICAS)
    throw new CheckFailure(
      STEPS.pausedReplicas,
      `value "${text.slice(0, 100)}" of annotation ${PAUSED_REPLICAS} is not a number of replicas`,
    );
  return replicas;
}
