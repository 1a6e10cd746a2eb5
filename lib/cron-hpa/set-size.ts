import type { ScaleClient } from '#lib/control/scale-client.ts';
import type { ScaleCause, ScaleLog } from '#lib/control/scale-log.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import { retryOnConflict } from '#lib/kubernetes/client/resource-client.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';
import { ADJUST_HPA_MIN, type CronHpa, FIELD_MANAGER } from './cron-hpa.ts';
import { findBlocker, type Hpa, hpaOf, RAISED_MAX, readHpa } from './target-conflicts.ts';

export interface HpaClient {
  get(
    name: { readonly namespace: string; readonly name: string },
    options: RequestOptions,
  ): Promise<KubernetesObject>;
  patch(
    name: { readonly namespace: string; readonly name: string },
    patch: { readonly type: 'merge'; readonly body: object },
    options: RequestOptions & { readonly fieldManager: string },
  ): Promise<KubernetesObject>;
}

interface RequestOptions {
  readonly signal: AbortSignal;
}

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
 * Sets the replicas of an object's target, or minReplicas of the HPA that scales the target.
 *
 * @throws when the size cannot be set
 */
export async function setSize(object: CronHpa, size: number, options: SetSizeOptions): Promise<SizeSet> {
  const hpa = options.hpa && (await latestHpa(object, options.hpa, options));
  const { kind, name } = object.spec.scaleTargetRef;
  if (hpa) return await setMinReplicas(object, size, { ...options, hpa });
  const needsHpa = object.annotations[ADJUST_HPA_MIN] === 'true' || kind === 'HorizontalPodAutoscaler';
  if (needsHpa) throw new Error(`no HorizontalPodAutoscaler scales ${kind} "${name}"`);
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

async function setMinReplicas(
  object: CronHpa,
  desired: number,
  options: SetSizeOptions & { readonly hpa: Hpa },
): Promise<SizeSet> {
  const { hpa } = options;
  if (desired < 1) throw new Error(`HorizontalPodAutoscaler "${hpa.name}" cannot have minReplicas 0`);
  const { minReplicas: current } = await patchHpa(object, desired, options);
  await wakeTarget(object, desired, options);
  return { adjustType: 'hpa min replicas', current, desired };
}

/** @returns the HPA before the change */
async function patchHpa(
  object: CronHpa,
  size: number,
  { hpa, hpaClient, scaleLog, cause, clock, signal }: SetSizeOptions & { readonly hpa: Hpa },
): Promise<Hpa> {
  const write = async (before: Hpa) => {
    const change = hpaChange(before, size);
    if (!change) return before;
    const patch = { type: 'merge', body: hpaPatch(before, change) } as const;
    await hpaClient.patch(before, patch, { signal, fieldManager: FIELD_MANAGER });
    const sizes = { from: before.minReplicas, to: change.minReplicas };
    if (sizes.from !== sizes.to)
      scaleLog.minReplicasChanged(`${before.namespace}/${before.name}`, sizes, cause);
    return before;
  };
  const reread = () => latestHpa(object, hpa, { hpaClient, signal });
  return await retryOnConflict(hpa, write, { reread, clock, signal });
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

/** The new values of an HPA. */
export interface HpaChange {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  /** The new value of {@link RAISED_MAX}: `null` removes it, `undefined` leaves it unchanged. */
  readonly raisedMax: string | null | undefined;
}

const FROM_TO = /^(\d{1,9})>(\d{1,9})$/;

/**
 * Sets minReplicas of an HPA to `size`. A maxReplicas below `size` is raised, and restored by the first job that does not
 * need it; a maxReplicas that was changed meanwhile is left unchanged.
 *
 * @returns `undefined` when nothing changes
 */
export function hpaChange(hpa: Hpa, size: number): HpaChange | undefined {
  const [, fromText, toText] = FROM_TO.exec(hpa.annotations[RAISED_MAX] ?? '') ?? [];
  const isOurs = fromText !== undefined && Number(toText) === hpa.maxReplicas;
  const usualMax = isOurs ? Number(fromText) : hpa.maxReplicas;
  const maxReplicas = Math.max(usualMax, size);
  const recorded = maxReplicas > usualMax ? `${usualMax}>${maxReplicas}` : undefined;
  const current = hpa.annotations[RAISED_MAX];
  const raisedMax = recorded === current ? undefined : (recorded ?? null);
  if (hpa.minReplicas === size && hpa.maxReplicas === maxReplicas && raisedMax === undefined)
    return undefined;
  return { minReplicas: size, maxReplicas, raisedMax };
}

/** A merge patch with the resource version: the API server rejects it when the HPA has changed. */
export function hpaPatch(hpa: Hpa, { minReplicas, maxReplicas, raisedMax }: HpaChange): object {
  const annotations = raisedMax === undefined ? {} : { annotations: { [RAISED_MAX]: raisedMax } };
  return {
    metadata: { resourceVersion: hpa.resourceVersion, ...annotations },
    spec: { minReplicas, maxReplicas },
  };
}

export type AdjustType = 'scale replicas' | 'hpa min replicas';
