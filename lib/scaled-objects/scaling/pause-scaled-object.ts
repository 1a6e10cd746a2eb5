import { controllerOf } from '#lib/control/owner-references.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { conditionStatus, type ObjectCondition, setConditions } from '../api/conditions.ts';
import type { ScaledObject, ScaledObjectStatus } from '../api/scaled-object.ts';
import { recordStopped } from '../metrics/scaler-events.ts';
import { CheckFailure, STEPS } from '../validation/check-failure.ts';
import { parsePausedReplicas } from '../validation/validate-scaled-object.ts';
import type { ReconcileOptions } from './reconcile-context.ts';
import { CONDITIONS } from './scaled-object-status.ts';

/**
 * Deletes the HPA of a paused object and scales its target to the replicas of the annotation, if it has any.
 *
 * @returns the status of the object
 * @throws {CheckFailure} if the HPA cannot be deleted or the target cannot be scaled
 */
export async function pause(
  object: ScaledObject,
  options: ReconcileOptions & { readonly write: (status: ScaledObjectStatus) => Promise<ScaledObject> },
): Promise<ScaledObjectStatus> {
  const { own, states, write } = options;
  const before = object.status;
  const key = `${object.metadata.namespace}/${object.metadata.name}`;
  const paused = setConditions('ScaledObject', before?.conditions, [CONDITIONS.paused]);
  let latest = object;
  if (conditionStatus(before?.conditions, 'Paused') !== 'True') {
    latest = await write({ ...before, conditions: paused });
    own.normal('ScaledObjectPaused', 'ScaledObject is paused');
  }
  if (states.of(key).startedGeneration !== undefined) recordStopped(own);
  states.of(key).startedGeneration = undefined; // events report the start again when the pause ends
  states.of(key).next = { what: 'do nothing until the pause ends', atMs: undefined };
  await deleteHpas(object, options);
  const replicas = await setPausedReplicas(options);
  const {
    pausedReplicaCount: _,
    health: _health,
    triggersActivity: _activity,
    ...status
  } = latest.status ?? {};
  return {
    ...status,
    ...(replicas === undefined ? {} : { pausedReplicaCount: replicas }),
    conditions: whilePaused(paused),
  };
}

/** While paused, triggers are not polled and there is no HPA, so their conditions are reset. */
function whilePaused(paused: readonly ObjectCondition[]): readonly ObjectCondition[] {
  const { readyPaused, activePaused, noFallback } = CONDITIONS;
  const found = setConditions('ScaledObject', paused, [readyPaused, activePaused, noFallback]);
  return found.filter(({ type }) => type !== 'HPAActive');
}

/** Deletes the HPA named in the status and the one named in the spec: it may exist before the status names it. */
async function deleteHpas(
  object: ScaledObject,
  { hpaClient, hpas, prepared: { namespace, hpaName }, signal }: ReconcileOptions,
): Promise<void> {
  const { uid } = object.metadata;
  for (const name of new Set([object.status?.hpaName || hpaName, hpaName])) {
    const hpa = hpas.find(`${namespace}/${name}`);
    if (!hpa || controllerOf(hpa)?.uid !== uid) continue;
    try {
      await hpaClient.delete(hpa, signal);
    } catch (cause) {
      signal.throwIfAborted();
      if (!isNotFound(cause)) throw new CheckFailure(STEPS.deletePausedHpa, describeError(cause), { cause });
    }
  }
}

async function setPausedReplicas({
  prepared,
  scales,
  signal,
}: ReconcileOptions): Promise<number | undefined> {
  const replicas = parsePausedReplicas(prepared.annotations);
  if (replicas === undefined) return undefined;
  try {
    const scale = await scales.get(prepared.target.ref, signal);
    const cause = { by: `scaledobject ${prepared.name}`, why: `paused at ${replicas}` };
    if (scale.specReplicas !== replicas) await scales.set(scale, replicas, cause, signal);
    return replicas;
  } catch (cause) {
    signal.throwIfAborted();
    throw new CheckFailure(STEPS.pausedReplicas, describeError(cause), { cause });
  }
}
