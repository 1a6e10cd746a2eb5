import { MutationCache } from '#lib/control/mutation-cache.ts';
import {
  type Scale,
  type ScaleClient,
  type ScaleTarget,
  UnscalableTarget,
} from '#lib/control/scale-client.ts';
import type { ScaleCause } from '#lib/control/scale-log.ts';
import { serverWords } from '#lib/kubernetes/client/api-error.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import type { SharedInformer, SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import type { HorizontalPodAutoscaler } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { type CachedWorkload, WORKLOADS, type WorkloadScale } from '#lib/kubernetes/objects/workload.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ScaleFailure } from '../decision/decision-input.ts';

interface TargetScalesOptions {
  readonly informers: Pick<SharedInformers, 'get'>;
  readonly mapper: Pick<RestMapper, 'find'>;
  readonly scales: Pick<ScaleClient, 'get' | 'set'>;
  readonly clock: Clock;
}

/** A scale, and whether it comes from the informer or the API server. */
interface ReadScale {
  readonly scale: Scale;
  readonly isCached: boolean;
}

interface WatchedKind {
  readonly informer: SharedInformer<WorkloadScale>;
  /** `undefined` until an HPA has a target of this kind. */
  startedAtMs: number | undefined;
}

/** Timeout for the first list of a kind; without permission to list it, scales are requested one by one. */
const LIST_TIMEOUT_MS = 5_000;

/**
 * Reads scales of targets from informers: Deployments, ReplicaSets and StatefulSets are watched once an HPA has one as its
 * target. Scales of other kinds, and of uncached objects, are requested.
 *
 * Cached scales may be outdated, so callers read a scale again before they write it. A version read from the API server or
 * written takes precedence over the informer until that has caught up.
 */
export class TargetScales {
  readonly #options: TargetScalesOptions;
  /** By kind. */
  readonly #watched: ReadonlyMap<string, WatchedKind>;
  /** Versions read from the API server or written. */
  readonly #newer = new MutationCache<Pick<Scale, 'uid' | 'resourceVersion'>>((scale) => scale);

  constructor(options: TargetScalesOptions) {
    this.#options = options;
    const use = { needs: { parts: ['scale'] }, view: ({ scale }: CachedWorkload) => scale } as const;
    this.#watched = new Map(
      Object.entries(WORKLOADS).map(([kind, workloads]) => {
        const informer = options.informers.get(workloads, use);
        informer.onChange(({ key, current }) => this.#newer.latest(`${kind} ${key}`, current));
        return [kind, { informer, startedAtMs: undefined }];
      }),
    );
  }

  /** Number of targets with a newer version than the informer's. */
  get aheadCount(): number {
    return this.#newer.size;
  }

  /** Starts to watch the kind of a target. */
  async notice(target: Pick<ScaleTarget, 'apiVersion' | 'kind'>): Promise<void> {
    if (!this.#watched.has(target.kind)) return;
    const resource = await this.#options.mapper.find(target).catch(() => undefined); // reported by the decision
    if (resource) this.#watch(resource);
  }

  /**
   * @param options.isFresh reads from the API server
   * @throws errors of the scale client
   */
  async get(
    target: ScaleTarget,
    { signal, isFresh = false }: { readonly signal: AbortSignal; readonly isFresh?: boolean },
  ): Promise<ReadScale> {
    const cached = isFresh ? undefined : await this.#cachedScale(target, signal);
    if (cached) return { scale: cached, isCached: true };
    const scale = await this.#options.scales.get(target, signal);
    this.#note(scale);
    return { scale, isCached: false };
  }

  /** @throws errors of the scale client */
  async set(scale: Scale, replicas: number, cause: ScaleCause, signal: AbortSignal): Promise<Scale> {
    const written = await this.#options.scales.set(scale, replicas, cause, signal);
    this.#note(written);
    return written;
  }

  async #cachedScale(target: ScaleTarget, signal: AbortSignal): Promise<Scale | undefined> {
    if (!this.#watched.has(target.kind)) return undefined;
    const resource = await this.#options.mapper.find(target, signal);
    const watched = resource && this.#watch(resource);
    if (!watched || !(watched.informer.isSynced || (await this.#isListed(watched, signal)))) return undefined;
    const found = watched.informer.find(`${target.namespace}/${target.name}`);
    if (!found) return undefined; // may just have been created
    const isBehind = this.#newer.latest(keyOf(target), found) !== found;
    return isBehind ? undefined : { ...found, target, resource };
  }

  #note(scale: Scale): void {
    const { target, resource, uid, resourceVersion } = scale;
    const watched = resource.group === 'apps' ? this.#watched.get(resource.kind) : undefined;
    if (watched?.startedAtMs === undefined) return;
    const key = keyOf(target);
    this.#newer.record(key, { uid, resourceVersion });
    const found = watched.informer.find(`${target.namespace}/${target.name}`);
    if (found) this.#newer.latest(key, found); // the watch may have been faster
  }

  #watch(resource: ApiResource): WatchedKind | undefined {
    const watched = resource.group === 'apps' ? this.#watched.get(resource.kind) : undefined;
    if (!watched) return undefined;
    watched.startedAtMs ??= this.#options.clock.monotonicMs();
    watched.informer.start();
    return watched;
  }

  async #isListed({ informer, startedAtMs }: WatchedKind, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    const leftMs = (startedAtMs ?? clock.monotonicMs()) + LIST_TIMEOUT_MS - clock.monotonicMs();
    if (informer.isSynced || leftMs <= 0) return informer.isSynced;
    const waiting = new AbortController();
    const ended = AbortSignal.any([signal, waiting.signal]);
    await Promise.race([informer.synced(ended), clock.sleep(leftMs, { signal: ended })]).finally(() =>
      waiting.abort(),
    );
    return informer.isSynced;
  }
}

function keyOf({ kind, namespace, name }: ScaleTarget): string {
  return `${kind} ${namespace}/${name}`;
}

/** Reads the scale of an HPA's target; failures have the messages of Kubernetes' controller. */
export async function readTargetScale(
  { metadata: { namespace }, spec }: HorizontalPodAutoscaler,
  scales: Pick<TargetScales, 'get'>,
  options: Parameters<TargetScales['get']>[1],
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

interface WriteScaleOptions {
  readonly scales: Pick<TargetScales, 'set'>;
  readonly cause: ScaleCause;
  readonly signal: AbortSignal;
}

/** Writes the scale. @returns the error message on failure */
export async function writeTargetScale(
  scale: Scale,
  replicas: number,
  { scales, cause, signal }: WriteScaleOptions,
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
