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

export interface TargetReading {
  readonly replicas: number;
  readonly resource: ApiResource;
}

/** The replicas of a target cannot be read at the moment; says nothing about the object. */
export class UnreadableReplicas extends Error {
  override readonly name = 'UnreadableReplicas';
}

type Options = Pick<ScaledObjectDependencies, 'scales' | 'workloads'> & {
  readonly prepared: { readonly target: PreparedTarget };
  readonly events: ObjectEvents;
  readonly signal: AbortSignal;
};

/**
 * `spec.replicas` of an object's target: from the informer's cache, or else from its scale subresource.
 *
 * @throws {CheckFailure} if the target does not exist or cannot be scaled; {@link UnreadableReplicas} if the request fails
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

/** Converts an error of the scale client into either failure. */
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

/** The resource of the target in the status, if it is of the same kind. */
function cachedResource({ status }: ScaledObject, kindText: string): ApiResource | undefined {
  const { scaleTargetGVKR: cached, scaleTargetKind } = status ?? {};
  if (!cached || scaleTargetKind !== kindText) return undefined;
  const { group = '', version, kind, resource: plural } = cached;
  return { group, version, kind, plural, namespaced: true };
}

/** Reads the scale again and sets it. @returns `undefined` if its replicas differ from `from` */
export async function setReplicas(
  target: ScaleTarget,
  { from, to, cause }: { readonly from: number; readonly to: number; readonly cause: ScaleCause },
  { scales, signal }: Pick<Options, 'scales' | 'signal'>,
): Promise<Scale | undefined> {
  const scale = await scales.get(target, signal);
  if (scale.specReplicas !== from) return undefined;
  return await scales.set(scale, to, cause, signal);
}
