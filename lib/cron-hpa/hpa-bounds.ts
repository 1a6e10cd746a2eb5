import type { ScaleCause, ScaleLog } from '#lib/control/scale-log.ts';
import { retryOnConflict } from '#lib/kubernetes/client/resource-client.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { Clock } from '#lib/time/clock.ts';
import { FIELD_MANAGER } from './cron-hpa.ts';
import { CHANGED_MAX, CHANGED_MIN, type Hpa } from './target-conflicts.ts';

/** Reads and patches HPAs at the API server. */
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

interface PatchHpaOptions {
  readonly hpaClient: HpaClient;
  readonly scaleLog: Pick<ScaleLog, 'minReplicasChanged'>;
  readonly cause: ScaleCause;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly signal: AbortSignal;
  /** Reads the HPA again after a conflict; `undefined` when it must not be changed any more. */
  readonly reread: () => Promise<Hpa | undefined>;
}

/**
 * Changes the bounds of an HPA, also if it has changed since it was read.
 *
 * @param changeOf the change; `undefined` when nothing has to be written
 * @returns the HPA before the change
 */
export async function patchHpa(
  hpa: Hpa,
  changeOf: (before: Hpa) => HpaChange | undefined,
  { hpaClient, scaleLog, cause, clock, signal, reread }: PatchHpaOptions,
): Promise<Hpa> {
  const write = async (before: Hpa) => {
    const change = changeOf(before);
    if (!change) return before;
    const patch = { type: 'merge', body: hpaPatch(before, change) } as const;
    await hpaClient.patch(before, patch, { signal, fieldManager: FIELD_MANAGER });
    const sizes = { from: before.minReplicas, to: change.minReplicas };
    if (sizes.from !== sizes.to)
      scaleLog.minReplicasChanged(`${before.namespace}/${before.name}`, sizes, cause);
    return before;
  };
  return await retryOnConflict(hpa, write, { reread, clock, signal });
}

/** The new values of an HPA. */
export interface HpaChange {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  /** New values of {@link CHANGED_MIN} and {@link CHANGED_MAX}; `null` removes one. An unchanged one is absent. */
  readonly annotations: Readonly<Record<string, string | null>>;
}

type Bounds = Pick<Hpa, 'minReplicas' | 'maxReplicas'>;

/**
 * Sets minReplicas of an HPA to `size`. A maxReplicas below `size` is raised, and restored by the first job that does not
 * need it. A bound that another client has changed meanwhile counts as the usual one.
 *
 * @param options `setsMax`: sets maxReplicas to `size`, too
 * @returns `undefined` when nothing changes
 */
export function hpaChange(
  hpa: Hpa,
  size: number,
  { setsMax }: { readonly setsMax: boolean },
): HpaChange | undefined {
  const usual = usualBounds(hpa);
  const maxReplicas = setsMax ? size : Math.max(usual.maxReplicas, size);
  return changeTo(hpa, { minReplicas: size, maxReplicas }, usual);
}

/**
 * Restores the bounds that jobs have changed. One that another client has set since stays, and the other one is restored
 * up to it.
 *
 * @returns `undefined` when there are none
 */
export function restoredBounds(hpa: Hpa): HpaChange | undefined {
  const usual = usualBounds(hpa);
  const { minReplicas, maxReplicas } = usual;
  const isMinRestored = minReplicas !== hpa.minReplicas;
  const bounds =
    minReplicas <= maxReplicas
      ? usual
      : isMinRestored
        ? { minReplicas: maxReplicas, maxReplicas }
        : { minReplicas, maxReplicas: minReplicas };
  return changeTo(hpa, bounds, bounds);
}

const FROM_TO = /^(\d{1,9})>(\d{1,9})$/;

/** The bounds without the changes of jobs. */
function usualBounds({ annotations, minReplicas, maxReplicas }: Hpa): Bounds {
  return {
    minReplicas: usualOf(annotations[CHANGED_MIN], minReplicas),
    maxReplicas: usualOf(annotations[CHANGED_MAX], maxReplicas),
  };
}

function usualOf(recorded: string | undefined, current: number): number {
  const [, from, to] = FROM_TO.exec(recorded ?? '') ?? [];
  return from !== undefined && Number(to) === current ? Number(from) : current;
}

function changeTo(hpa: Hpa, bounds: Bounds, usual: Bounds): HpaChange | undefined {
  const annotations = Object.fromEntries([
    ...recordOf(hpa, CHANGED_MIN, [usual.minReplicas, bounds.minReplicas]),
    ...recordOf(hpa, CHANGED_MAX, [usual.maxReplicas, bounds.maxReplicas]),
  ]);
  const isSame = hpa.minReplicas === bounds.minReplicas && hpa.maxReplicas === bounds.maxReplicas;
  return isSame && Object.keys(annotations).length === 0 ? undefined : { ...bounds, annotations };
}

function recordOf(
  { annotations }: Hpa,
  key: string,
  [usual, now]: readonly [usual: number, now: number],
): readonly (readonly [key: string, value: string | null])[] {
  const record = now === usual ? undefined : `${usual}>${now}`;
  return record === getOwn(annotations, key) ? [] : [[key, record ?? null]];
}

/** A merge patch with the resource version: the API server rejects it when the HPA has changed. */
export function hpaPatch(hpa: Hpa, { annotations, ...bounds }: HpaChange): object {
  const isAnnotated = Object.keys(annotations).length > 0;
  return {
    metadata: { resourceVersion: hpa.resourceVersion, ...(isAnnotated && { annotations }) },
    spec: bounds,
  };
}
