import { controllerOf } from '#lib/control/metadata/owner-references.ts';
import type { Workload } from '../follow/workloads.ts';
import type { ManagedHpa } from '../hpa/hpa-client.ts';
import { requestsOf } from '../objects/annotations.ts';
import { hpaNameOf, type ScaledObject, targetOf } from '../objects/scaled-object.ts';
import { modifiersOf } from '../values/modifiers.ts';

/** A check that an object does not pass: at which step, and why. */
export class CheckFailure extends Error {
  override readonly name = 'CheckFailure';

  constructor(step: string, reason: string, options: { readonly cause?: unknown } = {}) {
    super(`${step}: ${reason}`, options);
  }
}

/** What the condition says of the step that an object does not pass. */
export const STEPS = {
  target: "ScaledObject doesn't have correct scaleTargetRef specification",
  replicas: "ScaledObject doesn't have correct Idle/Min/Max Replica Counts specification",
  triggers: "ScaledObject doesn't have correct triggers specification",
  hpa: 'failed to ensure HPA is correctly created for ScaledObject',
  deletePausedHpa: 'failed to delete HPA for paused ScaledObject',
  pausedReplicas: 'failed to scale target to paused replica count',
} as const;

const LONGEST_NAME = 63;
const DEFAULT_MAX = 100;
const UNCACHED = ['cpu', 'memory', 'cron'];
const RESOURCES = ['cpu', 'memory'];
const OWNERSHIP = 'validations.keda.sh/hpa-ownership';

/** What else is in the namespace. */
export interface Neighbours {
  readonly objects: Iterable<ScaledObject>;
  readonly hpas: Iterable<ManagedHpa>;
  /** The target, where it is one whose containers are known. */
  readonly workload: Workload | undefined;
  /** Resources of which a LimitRange of the namespace gives containers a default. */
  readonly limitedByDefault: readonly string[];
}

/** Checks what a schema cannot. @throws {CheckFailure} for the first rule that is broken */
export function checkScaledObject(object: ScaledObject, neighbours: Neighbours): void {
  checkNames(object);
  checkRivals(object, neighbours);
  checkReplicas(object);
  checkTriggers(object);
  checkResources(object, neighbours);
  checkFallback(object);
  checkModifiers(object);
}

function checkNames(object: ScaledObject): void {
  const { name } = object.metadata;
  const hpaName = hpaNameOf(object);
  if (name.length > LONGEST_NAME)
    throw new CheckFailure(
      STEPS.target,
      `ScaledObject name length is ${name.length}, maximum allowed is ${LONGEST_NAME}`,
    );
  if (hpaName.length > LONGEST_NAME)
    throw new CheckFailure(
      STEPS.hpa,
      `HPA name length is ${hpaName.length}, maximum allowed is ${LONGEST_NAME}`,
    );
}

function checkRivals(object: ScaledObject, { objects, hpas }: Neighbours): void {
  const target = targetOf(object);
  const type = `${target.apiVersion}.${target.kind}`;
  for (const other of objects) {
    if (other.metadata.uid === object.metadata.uid || !isOlder(other, object)) continue;
    const theirs = targetOf(other);
    const managed = `is already managed by the ScaledObject '${other.metadata.name}'`;
    if (theirs.name === target.name && theirs.kind === target.kind && theirs.apiVersion === target.apiVersion)
      throw new CheckFailure(STEPS.target, `the workload '${target.name}' of type '${type}' ${managed}`);
    if (hpaNameOf(other) === hpaNameOf(object))
      throw new CheckFailure(STEPS.hpa, `the HPA '${hpaNameOf(object)}' ${managed}`);
  }
  for (const hpa of hpas) checkHpa(object, hpa, type);
}

/** Of two that want the same, who was there first has it. */
function isOlder({ metadata: a }: ScaledObject, { metadata: b }: ScaledObject): boolean {
  const [first, second] = [a.creationTimestamp ?? '', b.creationTimestamp ?? ''];
  return first < second || (first === second && (a.uid ?? '') < (b.uid ?? ''));
}

function checkHpa(object: ScaledObject, hpa: ManagedHpa, type: string): void {
  const { name, annotations } = hpa.metadata;
  const target = targetOf(object);
  const theirs = hpa.spec?.scaleTargetRef;
  if (theirs?.name !== target.name || theirs.kind !== target.kind) return;
  if ((theirs.apiVersion ?? '').split('/')[0] !== target.apiVersion.split('/')[0]) return;
  const owner = controllerOf(hpa);
  const isOwn = owner?.kind === 'ScaledObject' && owner.name === object.metadata.name;
  if (isOwn || annotations?.[OWNERSHIP] === 'false') return;
  if (!requestsOf(object).transfersHpa)
    throw new CheckFailure(
      STEPS.hpa,
      `the workload '${target.name}' of type '${type}' is already managed by the hpa '${name}'`,
    );
  if (object.spec.advanced?.horizontalPodAutoscalerConfig?.name !== name)
    throw new CheckFailure(
      STEPS.hpa,
      `the existing hpa '${name}' for workload '${target.name}' of type '${type}' must be specified by name in advanced settings to enable ownership transfer`,
    );
}

function checkReplicas({ spec }: ScaledObject): void {
  const { minReplicaCount, idleReplicaCount: idle } = spec;
  const max = spec.maxReplicaCount ?? DEFAULT_MAX;
  const min = minReplicaCount ?? 0;
  if (min > max)
    throw new CheckFailure(STEPS.replicas, `MinReplicaCount=${min} must be less than MaxReplicaCount=${max}`);
  const least = minReplicaCount === 0 ? 1 : min; // who writes 0 has the HPA's 1 in mind
  if (idle !== undefined && idle >= least)
    throw new CheckFailure(
      STEPS.replicas,
      `IdleReplicaCount=${idle} must be less than MinReplicaCount=${least}`,
    );
}

function checkTriggers({ spec }: ScaledObject): void {
  const { triggers } = spec;
  if (triggers.length === 0)
    throw new CheckFailure(STEPS.triggers, 'no triggers defined in the ScaledObject/ScaledJob');
  const names = new Set<string>();
  for (const { name, type, useCachedMetrics } of triggers) {
    if (name && names.has(name))
      throw new CheckFailure(
        STEPS.triggers,
        `triggerName "${name}" is defined multiple times in the ScaledObject/ScaledJob, but it must be unique`,
      );
    if (name) names.add(name);
    if (useCachedMetrics && UNCACHED.includes(type))
      throw new CheckFailure(
        STEPS.triggers,
        `property "useCachedMetrics" is not supported for "${type}" scaler`,
      );
  }
}

function checkResources({ spec }: ScaledObject, { workload, limitedByDefault }: Neighbours): void {
  const { triggers, minReplicaCount } = spec;
  for (const { type, metadata } of triggers.filter(({ type }) => RESOURCES.includes(type))) {
    const container = metadata.containerName;
    const bare = workload?.containers.find(
      ({ name, resources }) => (!container || name === container) && !resources.includes(type),
    );
    if (bare && !limitedByDefault.includes(type))
      throw new CheckFailure(
        STEPS.triggers,
        `the scaledobject has a ${type} trigger but the container ${bare.name} doesn't have the ${type} request defined`,
      );
  }
  if (triggers.every(({ type }) => RESOURCES.includes(type)) && !minReplicaCount)
    throw new CheckFailure(
      STEPS.triggers,
      "scaledobject has only cpu/memory triggers AND minReplica is 0 (scale to zero doesn't work in this case)",
    );
}

function checkFallback({ spec }: ScaledObject): void {
  const { fallback, triggers, advanced } = spec;
  if (!fallback) return;
  const { failureThreshold, replicas, behavior } = fallback;
  if (failureThreshold < 0 || replicas < 0)
    throw new CheckFailure(
      STEPS.triggers,
      `FailureThreshold=${failureThreshold} & Replicas=${replicas} must both be greater than or equal to 0`,
    );
  const hasFormula = Boolean(advanced?.scalingModifiers?.formula);
  if (!hasFormula && triggers.every(({ type }) => RESOURCES.includes(type)))
    throw new CheckFailure(
      STEPS.triggers,
      'at least one trigger (that is not cpu or memory) has to have the `AverageValue` type for the fallback to be enabled',
    );
  if (behavior === 'scalingModifiers' && !hasFormula)
    throw new CheckFailure(
      STEPS.triggers,
      'scalingModifiers fallback behavior requires scalingModifiers.formula to be defined',
    );
}

function checkModifiers(object: ScaledObject): void {
  try {
    modifiersOf(object);
  } catch (cause) {
    throw new CheckFailure(STEPS.triggers, cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
