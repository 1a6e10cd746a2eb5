import type { ScaleClient } from '#lib/control/scale-client.ts';
import type { ScaleCause, ScaleLog } from '#lib/control/scale-log.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import type { Clock } from '#lib/time/clock.ts';
import { adjustmentOf, type CronHpa, needsHpa } from './cron-hpa.ts';
import { type HpaClient, hpaChange, patchHpa } from './hpa-bounds.ts';
import { findBlocker, type Hpa, hpaOf, readHpa } from './target-conflicts.ts';

interface SetSizeOptions {
  readonly scales: Pick<ScaleClient, 'get' | 'set'>;
  readonly hpaClient: HpaClient;
  readonly scaleLog: Pick<ScaleLog, 'minReplicasChanged'>;
  readonly cause: ScaleCause;
  readonly clock: Pick<Clock, 'sleep'>;
  /** The HPA of the target, from the informer; it is read again before it is changed. */
  readonly hpa: Hpa | undefined;
  readonly signal: AbortSignal;
}

interface SizeSet {
  readonly adjustType: AdjustType;
  readonly current: number;
  readonly desired: number;
}

/**
 * Sets the replicas of an object's target, or the bounds of the HPA that scales the target.
 *
 * @throws when the size cannot be set
 */
export async function setSize(object: CronHpa, size: number, options: SetSizeOptions): Promise<SizeSet> {
  const hpa = options.hpa && (await latestHpa(object, options.hpa, options));
  const { kind, name } = object.spec.scaleTargetRef;
  if (hpa) return await setBounds(object, size, { ...options, hpa });
  if (needsHpa(object)) throw new Error(`no HorizontalPodAutoscaler scales ${kind} "${name}"`);
  return await setReplicas(object, size, options);
}

/**
 * Reads the HPA, `undefined` when it is deleted or scales another target.
 *
 * @throws when its owner alone may change it
 */
async function latestHpa(
  object: CronHpa,
  { namespace, name }: Hpa,
  { hpaClient, signal }: Pick<SetSizeOptions, 'hpaClient' | 'signal'>,
): Promise<Hpa | undefined> {
  const value = await hpaClient.get({ namespace, name }, { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  const latest = value && readHpa(value);
  if (value && !latest) throw new Error(`HorizontalPodAutoscaler "${name}" is malformed`);
  const hpa = hpaOf(object, latest ? [latest] : []);
  const blocker = findBlocker(object, { hpa, others: [] });
  if (blocker) throw new Error(blocker.message);
  return hpa;
}

async function setReplicas(
  { namespace, spec }: CronHpa,
  desired: number,
  { scales, cause, signal }: Pick<SetSizeOptions, 'scales' | 'cause' | 'signal'>,
): Promise<SizeSet> {
  const scale = await scales.get({ namespace, ...spec.scaleTargetRef }, signal);
  const { specReplicas: current } = scale;
  if (current !== desired) await scales.set(scale, desired, cause, signal);
  return { adjustType: 'scale replicas', current, desired };
}

async function setBounds(
  object: CronHpa,
  desired: number,
  options: SetSizeOptions & { readonly hpa: Hpa },
): Promise<SizeSet> {
  const { hpa, hpaClient, signal } = options;
  if (desired < 1) throw new Error(`HorizontalPodAutoscaler "${hpa.name}" cannot have minReplicas 0`);
  const setsMax = adjustmentOf(object) === 'hold';
  const reread = () => latestHpa(object, hpa, { hpaClient, signal });
  const changeOf = (before: Hpa) => hpaChange(before, desired, { setsMax });
  const { minReplicas: current } = await patchHpa(hpa, changeOf, { ...options, reread });
  await wakeTarget(object, desired, options);
  return { adjustType: setsMax ? 'hpa min and max replicas' : 'hpa min replicas', current, desired };
}

/** Sets replicas of a target that has none: an HPA does not scale from 0. */
async function wakeTarget(
  { namespace }: CronHpa,
  size: number,
  { hpa, scales, cause, signal }: SetSizeOptions & { readonly hpa: Hpa },
): Promise<void> {
  const { apiVersion = '', kind, name } = hpa.scaleTargetRef;
  const scale = await scales.get({ namespace, apiVersion, kind, name }, signal);
  if (scale.specReplicas === 0) await scales.set(scale, size, cause, signal);
}

export type AdjustType = 'scale replicas' | 'hpa min replicas' | 'hpa min and max replicas';
