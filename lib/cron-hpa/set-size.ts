import type { ScaleClient } from '#lib/control/scale-client.ts';
import type { ScaleCause, ScaleLog } from '#lib/control/scale-log.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import { retryOnConflict } from '#lib/kubernetes/client/resource-client.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';
import { ADJUST_HPA_MIN, type CronHpa, FIELD_MANAGER } from './cron-hpa.ts';
import { type Hpa, hindranceOf, hpaOf, RAISED_MAX, readHpa } from './target-conflicts.ts';

/** HPAs, as far as they are read and changed. */
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

/** What sizes are set with. */
interface SetSizeOptions {
  readonly scales: Pick<ScaleClient, 'get' | 'set'>;
  readonly hpaClient: HpaClient;
  readonly scaleLog: Pick<ScaleLog, 'minReplicasChanged'>;
  readonly cause: ScaleCause;
  readonly clock: Pick<Clock, 'sleep'>;
  /** The HPA that scales the same target, as an informer shows it; what counts is what it is now. */
  readonly hpa: Hpa | undefined;
  readonly signal: AbortSignal;
}

/** What was set, what it was before, and what it is now. */
interface SizeSet {
  readonly adjustType: AdjustType;
  readonly current: number;
  readonly desired: number;
}

/**
 * Sets the size of an object's target: its replicas, or the minReplicas of its HPA, which then does the rest.
 *
 * @throws when that cannot be done
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
 * The HPA as it is now, if it is there and still scales the same target.
 *
 * @throws where it has got an owner who alone changes it
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
  if (value && !latest) throw new Error(`HorizontalPodAutoscaler "${name}" cannot be read`);
  const hpa = hpaOf(object, latest ? [latest] : []);
  const hindrance = hindranceOf(object, { hpa, others: [] });
  if (hindrance) throw new Error(hindrance.message);
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

/** @returns the HPA as it was before */
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

/** An HPA leaves a target alone that has no replicas: somebody has to give it some. */
async function wakeTarget(
  { namespace }: CronHpa,
  size: number,
  { hpa, scales, cause, signal }: SetSizeOptions & { readonly hpa: Hpa },
): Promise<void> {
  const { apiVersion = '', kind, name } = hpa.scaleTargetRef;
  const scale = await scales.get({ namespace, apiVersion, kind, name }, signal);
  if (scale.specReplicas === 0) await scales.set(scale, size, cause, signal);
}

/** How an HPA is to be changed. */
export interface HpaChange {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  /** The new value of {@link RAISED_MAX}, `null` where it is to go, `undefined` where it stays as it is. */
  readonly raisedMax: string | null | undefined;
}

const FROM_TO = /^(\d{1,9})>(\d{1,9})$/;

/**
 * What becomes of an HPA when there are to be `size` replicas at least: its minReplicas; maxReplicas are raised if they are
 * below, and go back with the first job that needs them no more. Who has changed maxReplicas since keeps their say.
 *
 * @returns `undefined` where nothing changes
 */
export function hpaChange(hpa: Hpa, size: number): HpaChange | undefined {
  const [, fromText, toText] = FROM_TO.exec(hpa.annotations[RAISED_MAX] ?? '') ?? [];
  const isOurs = fromText !== undefined && Number(toText) === hpa.maxReplicas;
  const usualMax = isOurs ? Number(fromText) : hpa.maxReplicas;
  const maxReplicas = Math.max(usualMax, size);
  const remembered = maxReplicas > usualMax ? `${usualMax}>${maxReplicas}` : undefined;
  const known = hpa.annotations[RAISED_MAX];
  const raisedMax = remembered === known ? undefined : (remembered ?? null);
  if (hpa.minReplicas === size && hpa.maxReplicas === maxReplicas && raisedMax === undefined)
    return undefined;
  return { minReplicas: size, maxReplicas, raisedMax };
}

/** The change as a merge patch, which the API server refuses if the HPA has changed since it was read. */
export function hpaPatch(hpa: Hpa, { minReplicas, maxReplicas, raisedMax }: HpaChange): object {
  const annotations = raisedMax === undefined ? {} : { annotations: { [RAISED_MAX]: raisedMax } };
  return {
    metadata: { resourceVersion: hpa.resourceVersion, ...annotations },
    spec: { minReplicas, maxReplicas },
  };
}

/** What a job moves. */
export type AdjustType = 'scale replicas' | 'hpa min replicas';
