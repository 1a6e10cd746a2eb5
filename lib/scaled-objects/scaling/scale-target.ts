import { type Scale, type ScaleTarget, UnscalableTarget } from '#lib/control/scale-client.ts';
import type { ScaleCause } from '#lib/control/scale-log.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import type { ObjectEvents } from '../api/object-events.ts';
import type { ScaledObject } from '../api/scaled-object.ts';
import type { PreparedTarget } from '../preparation/prepared-scaled-object.ts';
import { CheckFailure, STEPS } from '../validation/check-failure.ts';
import type { ScaledObjectDependencies } from './reconcile-context.ts';

/** What is scaled, as far as is known. */
export interface TargetReading {
  readonly replicas: number;
  /** Where its kind is served. */
  readonly resource: ApiResource;
}

/** The replicas of a target cannot be read just now. */
export class UnreadableReplicas extends Error {
  override readonly name = 'UnreadableReplicas';
}

type Options = Pick<ScaledObjectDependencies, 'scales' | 'workloads'> & {
  readonly prepared: { readonly target: PreparedTarget };
  readonly events: ObjectEvents;
  readonly signal: AbortSignal;
};

/**
 * How many replicas an object's target is to have now. What is followed is not asked for.
 *
 * @throws {CheckFailure} where there is no such target, or it cannot be scaled; {@link UnreadableReplicas} where the API server
 * does not tell
 */
export async function targetReading(object: ScaledObject, options: Options): Promise<TargetReading> {
  const { scales, workloads, signal } = options;
  const { ref, kindText } = options.prepared.target;
  const cached = cachedResource(object, kindText);
  const workload = workloads.find(ref);
  if (cached && workload) return { replicas: workload.replicas, resource: cached };
  try {
    const { specReplicas, resource } = await scales.get(ref, signal);
    return { replicas: specReplicas, resource };
  } catch (error) {
    signal.throwIfAborted();
    const failure = targetFailure(error);
    if (failure instanceof CheckFailure) recordFailure(failure, object, options.events);
    throw failure;
  }
}

/** What it means that a target cannot be read: that it cannot be scaled, or that this is not known now. */
export function targetFailure(error: unknown): CheckFailure | UnreadableReplicas {
  const reason = describeError(error);
  const isRefused = isNotFound(error) || error instanceof UnscalableTarget;
  return isRefused
    ? new CheckFailure(STEPS.target, reason, { cause: error })
    : new UnreadableReplicas(reason, { cause: error });
}

function recordFailure(failure: CheckFailure, object: ScaledObject, events: ObjectEvents): void {
  const { cause } = failure;
  if (object.status?.conditions?.some(({ message }) => message === failure.message)) return;
  const hasScale = !(cause instanceof UnscalableTarget && cause.reason === 'NoScaleSubresource');
  events.warning(
    'ScaledObjectCheckFailed',
    hasScale ? "Target resource doesn't exist" : "Target resource doesn't expose /scale subresource",
  );
}

/** Where the target is served, if the object says so of this very kind. */
function cachedResource({ status }: ScaledObject, kindText: string): ApiResource | undefined {
  const { scaleTargetGVKR: cached, scaleTargetKind } = status ?? {};
  if (!cached || scaleTargetKind !== kindText) return undefined;
  const { group = '', version, kind, resource: plural } = cached;
  return { group, version, kind, plural, namespaced: true };
}

/** Reads the scale again and sets it, unless it is not as it was when this was decided. */
export async function setReplicas(
  target: ScaleTarget,
  { from, to, cause }: { readonly from: number; readonly to: number; readonly cause: ScaleCause },
  { scales, signal }: Pick<Options, 'scales' | 'signal'>,
): Promise<Scale | undefined> {
  const scale = await scales.get(target, signal);
  if (scale.specReplicas !== from) return undefined;
  return await scales.set(scale, to, cause, signal);
}
