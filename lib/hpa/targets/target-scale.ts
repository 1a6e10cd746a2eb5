import { type Scale, UnscalableTarget } from '#lib/control/scale-client.ts';
import type { ScaleCause } from '#lib/control/scale-log.ts';
import { serverWords } from '#lib/kubernetes/client/api-error.ts';
import type { HorizontalPodAutoscaler } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { ScaleFailure } from '../scale-reading.ts';
import type { FollowedScales, ReadScale } from './followed-scales.ts';

/** Reads the scale of an HPA's target; what fails is told in the controller's words. */
export async function readTargetScale(
  { metadata: { namespace }, spec }: HorizontalPodAutoscaler,
  scales: Pick<FollowedScales, 'get'>,
  options: Parameters<FollowedScales['get']>[1],
): Promise<ReadScale | ScaleFailure> {
  const { apiVersion = '', kind, name } = spec.scaleTargetRef;
  const [group = '', version, ...rest] = apiVersion.split('/');
  if (rest.length > 0) {
    return { step: 'api-version', message: `unexpected GroupVersion string: ${apiVersion}` };
  }
  try {
    return await scales.get({ namespace, apiVersion, kind, name }, options);
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof UnscalableTarget) {
      return error.reason === 'UnknownKind'
        ? {
            step: 'kind',
            message: `no matches for kind "${kind}" in group "${version === undefined ? '' : group}"`,
          }
        : { step: 'scale', message: 'the server could not find the requested resource' };
    }
    return { step: 'scale', message: scaleWords(error) };
  }
}

/** Writes the scale. @returns why it could not be written */
export async function writeTargetScale(
  scale: Scale,
  replicas: number,
  {
    scales,
    cause,
    signal,
  }: {
    readonly scales: Pick<FollowedScales, 'set'>;
    readonly cause: ScaleCause;
    readonly signal: AbortSignal;
  },
): Promise<string | undefined> {
  try {
    await scales.set(scale, replicas, cause, signal);
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    return scaleWords(error);
  }
}

function scaleWords(error: unknown): string {
  return serverWords(error, { resource: 'scale', group: '' });
}
