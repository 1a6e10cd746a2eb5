import type { Workload } from '#lib/kubernetes/objects/workload.ts';
import { type KedaAnnotations, PAUSED_REPLICAS } from '../api/annotations.ts';
import type { ScaledObject, TriggerSpec } from '../api/scaled-object.ts';
import { MAX_TRIGGERS } from '../preparation/prepare-triggers.ts';
import type { PreparedScaledObject } from '../preparation/prepared-scaled-object.ts';
import { RESOURCE_TRIGGERS } from '../preparation/scaling-modifiers.ts';
import { CheckFailure, STEPS } from './check-failure.ts';
import { type Conflicts, checkConflicts } from './find-conflicts.ts';

const MAX_NAME_LENGTH = 63;

/** What else is in the namespace. */
export interface ValidationContext extends Conflicts {
  /** The object itself. */
  readonly prepared: PreparedScaledObject;
  /** The target, where it is one whose containers are known. */
  readonly workload: Workload | undefined;
  /** Resources of which a LimitRange of the namespace gives containers a default. */
  readonly limitedByDefault: readonly string[];
}

/** Checks what a schema cannot. @throws {CheckFailure} for the first rule that is broken */
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
    throw new CheckFailure(
      STEPS.target,
      `ScaledObject name length is ${name.length}, maximum allowed is ${MAX_NAME_LENGTH}`,
      { rule: 'name-too-long' },
    );
  if (hpaName.length > MAX_NAME_LENGTH)
    throw new CheckFailure(
      STEPS.hpa,
      `HPA name length is ${hpaName.length}, maximum allowed is ${MAX_NAME_LENGTH}`,
      { rule: 'hpa-name-too-long' },
    );
}

function checkReplicas({ bounds }: PreparedScaledObject): void {
  const { min = 0, idle, max } = bounds;
  if (min > max)
    throw new CheckFailure(
      STEPS.replicas,
      `MinReplicaCount=${min} must be less than MaxReplicaCount=${max}`,
      { rule: 'incorrect-replicas' },
    );
  const least = bounds.min === 0 ? 1 : min; // an explicit 0 counts as the HPA's 1
  if (idle !== undefined && idle >= least)
    throw new CheckFailure(
      STEPS.replicas,
      `IdleReplicaCount=${idle} must be less than MinReplicaCount=${least}`,
      { rule: 'incorrect-replicas' },
    );
}

function checkTriggers({ spec }: ScaledObject): void {
  const broken = brokenByTriggers(spec.triggers);
  if (broken) throw new CheckFailure(STEPS.triggers, broken, { rule: 'incorrect-triggers' });
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
      throw new CheckFailure(
        STEPS.triggers,
        `the scaledobject has a ${type} trigger but the container ${bare.name} doesn't have the ${type} request defined`,
        { rule: 'missing-requests' },
      );
  }
  if (prepared.isResourcesOnly && !prepared.bounds.min)
    throw new CheckFailure(
      STEPS.triggers,
      "scaledobject has only cpu/memory triggers AND minReplica is 0 (scale to zero doesn't work in this case)",
      { rule: 'scale-to-zero-requirements-not-met' },
    );
}

function checkFallback({ spec: { fallback } }: ScaledObject, prepared: PreparedScaledObject): void {
  const { hasFormula, isResourcesOnly } = prepared;
  if (!fallback) return;
  const { failureThreshold, replicas, behavior } = fallback;
  if (failureThreshold < 0 || replicas < 0)
    throw new CheckFailure(
      STEPS.triggers,
      `FailureThreshold=${failureThreshold} & Replicas=${replicas} must both be greater than or equal to 0`,
      { rule: 'incorrect-fallback' },
    );
  if (!hasFormula && isResourcesOnly)
    throw new CheckFailure(
      STEPS.triggers,
      'at least one trigger (that is not cpu or memory) has to have the `AverageValue` type for the fallback to be enabled',
      { rule: 'incorrect-fallback' },
    );
  if (behavior === 'scalingModifiers' && !hasFormula)
    throw new CheckFailure(
      STEPS.triggers,
      'scalingModifiers fallback behavior requires scalingModifiers.formula to be defined',
      { rule: 'scaling-modifiers-fallback' },
    );
}

function checkModifiers({ modifiersError: cause }: PreparedScaledObject): void {
  if (cause) throw new CheckFailure(STEPS.triggers, cause.message, { cause, rule: 'scaling-modifiers' });
}

const UNCACHED = ['cpu', 'memory', 'cron'];

/** The rule that the triggers of a ScaledObject or ScaledJob break among themselves; `undefined` where they break none. */
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
 * Checks an object, and asks for the defaults of its namespace only where they alone can make up for what containers do
 * not request.
 *
 * @throws {CheckFailure} for the first rule that is broken; what asking throws
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
 * How many replicas the target of a paused object is to have; `undefined` where it is left as it is.
 *
 * @throws {CheckFailure} for a text that is no number of replicas
 */
export function parsePausedReplicas({ pausedReplicas: text }: KedaAnnotations): number | undefined {
  if (text === undefined) return undefined;
  const replicas = Number(text);
  if (!/^\d{1,10}$/.test(text) || replicas > MAX_REPLICAS)
    throw new CheckFailure(
      STEPS.pausedReplicas,
      `value "${text.slice(0, 100)}" of annotation ${PAUSED_REPLICAS} is no number of replicas`,
    );
  return replicas;
}
