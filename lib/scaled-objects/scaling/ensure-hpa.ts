import { controllerOf } from '#lib/control/owner-references.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import type { ManagedHpa } from '../api/informers.ts';
import type { ScaledObject } from '../api/scaled-object.ts';
import { recordStarted } from '../metrics/scaler-events.ts';
import { type PreparedTriggers, preparationError } from '../preparation/prepared-triggers.ts';
import { UnreadReference } from '../triggers/authentication/reference-reader.ts';
import { CheckFailure, STEPS } from '../validation/check-failure.ts';
import { checkWithDefaults } from '../validation/validate-scaled-object.ts';
import { desiredHpa } from './desired-hpa.ts';
import type { ReconcileOptions } from './reconcile-context.ts';
import { type TargetReading, targetReading } from './scale-target.ts';

/** A valid object with its HPA. */
export interface EnsuredHpa {
  readonly plan: PreparedTriggers;
  readonly target: TargetReading;
  readonly hpa: ManagedHpa;
  /** Whether the HPA had another target of the same kind before. */
  readonly isRetargeted: boolean;
}

type Options = ReconcileOptions & { readonly key: string };

/**
 * Checks an object and applies its HPA.
 *
 * @returns `undefined` while its triggers are not prepared
 * @throws {CheckFailure} if the object cannot be used or its HPA cannot be applied
 */
export async function ensureHpa(object: ScaledObject, options: Options): Promise<EnsuredHpa | undefined> {
  const { plans, states, own, key, prepared } = options;
  const target = await targetReading(object, { ...options, events: own });
  await check(object, options);
  const plan = plans.find(key, object);
  if (!plan) return undefined;
  const error = preparationError(plan);
  if (error instanceof UnreadReference) return undefined; // not a fault of the object
  if (error) {
    recordFailed(error, options);
    throw new CheckFailure(STEPS.hpa, error.message, { cause: error });
  }
  const applied = await applyHpa(object, { plan, target }, options);
  const state = states.of(key);
  if (state.startedGeneration !== object.metadata.generation) {
    state.startedGeneration = object.metadata.generation;
    recordStarted(plan.triggers, own);
    for (const text of prepared.ineffectiveSettings) own.normal('KEDAScalerInfo', text);
  }
  return { plan, target, ...applied };
}

async function check(object: ScaledObject, options: Options): Promise<void> {
  const { prepared } = options;
  const { namespace, target } = prepared;
  const neighbours = {
    prepared,
    objects: options.objects.overlapping(prepared),
    hpas: options.hpas.overlapping(prepared),
    workload: options.workloads.find(target.ref),
  };
  await checkWithDefaults(object, neighbours, () => options.limitedByDefault(namespace, options.signal));
}

function recordFailed(error: Error, { own, states, key, prepared }: Options): void {
  const { failures } = states.of(key);
  if (failures.get('') === error.message) return;
  failures.set('', error.message);
  const reason = prepared.hasFormula ? 'KEDAMetricSourceFailed' : 'KEDAScalerFailed';
  own.warning(reason, error.message);
}

async function applyHpa(
  object: ScaledObject,
  { plan, target }: Pick<EnsuredHpa, 'plan' | 'target'>,
  options: Options,
): Promise<Pick<EnsuredHpa, 'hpa' | 'isRetargeted'>> {
  const { hpas, hpaClient, version, signal, prepared } = options;
  const { namespace, uid, generation, hpaName } = prepared;
  const state = options.states.of(options.key);
  try {
    const desired = desiredHpa(object, { prepared, plan, resource: target.resource, version });
    const before = object.status?.hpaName;
    const renamed = before && before !== hpaName ? hpas.find(`${namespace}/${before}`) : undefined;
    if (renamed && controllerOf(renamed)?.uid === uid)
      await hpaClient.delete(renamed, signal).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      });
    const found = hpas.find(`${namespace}/${desired.metadata.name}`);
    // Checked once per generation: the informer may return the previous HPA for a while after that.
    const isRetargeted =
      state.startedGeneration !== generation &&
      found !== undefined &&
      controllerOf(found)?.uid === uid &&
      found.spec?.scaleTargetRef?.name !== prepared.target.ref.name;
    const { hpa, written } = await hpaClient.apply(desired, { found, written: state.hpa }, signal);
    state.hpa = written;
    return { hpa, isRetargeted };
  } catch (cause) {
    signal.throwIfAborted();
    throw new CheckFailure(STEPS.hpa, describeError(cause), { cause });
  }
}
