import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import { type Scale, type ScaleClient, type ScaleTarget, UnscalableTarget } from './scale-client.ts';

/** Why a target cannot be scaled. */
export interface TargetProblem {
  readonly reason: UnscalableTarget['reason'] | 'NotFound';
  /** Such as `deployments.apps "web" not found in namespace default`. */
  readonly problem: string;
}

/**
 * Checks that a target exists and can be scaled, by its scale subresource.
 *
 * @returns its scale, or why it cannot be scaled
 * @throws errors that prevent the check, such as an ApiError with status 403
 */
export async function checkTarget(
  target: ScaleTarget,
  scales: ScaleClient,
  signal: AbortSignal,
): Promise<TargetProblem | { readonly scale: Scale; readonly problem?: undefined }> {
  const found = await checkTargetKind(target, scales, signal);
  return found.problem === undefined
    ? await checkTargetExists(target, { resource: found.resource, scales, signal })
    : found;
}

/** Checks that objects of a target's kind can be scaled. @returns its resource, or why they cannot */
export async function checkTargetKind(
  target: ScaleTarget,
  scales: ScaleClient,
  signal: AbortSignal,
): Promise<TargetProblem | { readonly resource: ApiResource; readonly problem?: undefined }> {
  try {
    return { resource: await scales.resourceOf(target, signal) };
  } catch (error) {
    if (!(error instanceof UnscalableTarget)) throw error;
    return { reason: error.reason, problem: error.message };
  }
}

interface ExistenceCheck {
  readonly resource: ApiResource;
  readonly scales: ScaleClient;
  readonly signal: AbortSignal;
}

/** Checks that a target of a scalable kind exists. @throws as {@link checkTarget} */
export async function checkTargetExists(
  target: ScaleTarget,
  { resource: { plural, group }, scales, signal }: ExistenceCheck,
): Promise<TargetProblem | { readonly scale: Scale; readonly problem?: undefined }> {
  try {
    return { scale: await scales.get(target, signal) };
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const kind = group === '' ? plural : `${plural}.${group}`;
    const problem = `${kind} ${JSON.stringify(target.name)} not found in namespace ${target.namespace}`;
    return { reason: 'NotFound', problem };
  }
}
