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

/** What {@link FollowedScales} works with. */
interface FollowedScalesOptions {
  readonly informers: Pick<SharedInformers, 'get'>;
  readonly mapper: Pick<RestMapper, 'find'>;
  readonly scales: Pick<ScaleClient, 'get' | 'set'>;
  readonly clock: Clock;
}

/** A scale, and whether it is what the informer knew, or what the API server says now. */
interface ReadScale {
  readonly scale: Scale;
  readonly isFollowed: boolean;
}

interface Followed {
  readonly informer: SharedInformer<WorkloadScale>;
  /** `undefined` until an HPA has one as its target. */
  startedAtMs: number | undefined;
}

/** So long a decision waits for the first list of a kind; an account that may not list it is asked one by one. */
const LIST_WITHIN_MS = 5_000;

/**
 * The scales of targets, without a request for each: Deployments, ReplicaSets and StatefulSets are followed once an HPA
 * has one as its target; of other kinds, and of what is not known, the scale subresource is asked.
 *
 * What is followed may be outdated, so nothing is to be written on its word: who wants to scale reads it again, live. What
 * was read live or written is known to be newer than what the informer shows until that catches up.
 */
export class FollowedScales {
  readonly #options: FollowedScalesOptions;
  /** By their kinds. */
  readonly #followed: ReadonlyMap<string, Followed>;
  /** The versions that were read live or written last. */
  readonly #newer = new MutationCache<Pick<Scale, 'uid' | 'resourceVersion'>>((scale) => scale);

  constructor(options: FollowedScalesOptions) {
    this.#options = options;
    const use = { needs: { parts: ['scale'] }, view: ({ scale }: CachedWorkload) => scale } as const;
    this.#followed = new Map(
      Object.entries(WORKLOADS).map(([kind, workloads]) => {
        const informer = options.informers.get(workloads, use);
        informer.onChange(({ key, current }) => this.#newer.latest(`${kind} ${key}`, current));
        return [kind, { informer, startedAtMs: undefined }];
      }),
    );
  }

  /** Of how many targets it knows a newer version than the one that was followed up to now. */
  get aheadCount(): number {
    return this.#newer.size;
  }

  /** Begins to follow the kind of a target. */
  async notice(target: Pick<ScaleTarget, 'apiVersion' | 'kind'>): Promise<void> {
    if (!this.#followed.has(target.kind)) return;
    const resource = await this.#options.mapper.find(target).catch(() => undefined); // it is told when it is decided
    if (resource) this.#follow(resource);
  }

  /**
   * @param options.isFresh asks the API server, whatever is known
   * @throws what the scale client throws
   */
  async get(
    target: ScaleTarget,
    { signal, isFresh = false }: { readonly signal: AbortSignal; readonly isFresh?: boolean },
  ): Promise<ReadScale> {
    const known = isFresh ? undefined : await this.#known(target, signal);
    if (known) return { scale: known, isFollowed: true };
    const scale = await this.#options.scales.get(target, signal);
    this.#note(scale);
    return { scale, isFollowed: false };
  }

  /** @throws what the scale client throws */
  async set(scale: Scale, replicas: number, cause: ScaleCause, signal: AbortSignal): Promise<Scale> {
    const written = await this.#options.scales.set(scale, replicas, cause, signal);
    this.#note(written);
    return written;
  }

  async #known(target: ScaleTarget, signal: AbortSignal): Promise<Scale | undefined> {
    if (!this.#followed.has(target.kind)) return undefined;
    const resource = await this.#options.mapper.find(target, signal);
    const followed = resource && this.#follow(resource);
    if (!followed || !(await this.#isListed(followed, signal))) return undefined;
    const found = followed.informer.find(`${target.namespace}/${target.name}`);
    if (!found) return undefined; // it may just have been made
    const isBehind = this.#newer.latest(keyOf(target), found) !== found;
    return isBehind ? undefined : { ...found, target, resource };
  }

  #note(scale: Scale): void {
    const { target, resource, uid, resourceVersion } = scale;
    const followed = resource.group === 'apps' ? this.#followed.get(resource.kind) : undefined;
    if (followed?.startedAtMs === undefined) return;
    const key = keyOf(target);
    this.#newer.record(key, { uid, resourceVersion });
    const found = followed.informer.find(`${target.namespace}/${target.name}`);
    if (found) this.#newer.latest(key, found); // its watch may have been quicker
  }

  #follow(resource: ApiResource): Followed | undefined {
    const followed = resource.group === 'apps' ? this.#followed.get(resource.kind) : undefined;
    if (!followed) return undefined;
    followed.startedAtMs ??= this.#options.clock.monotonicMs();
    followed.informer.start();
    return followed;
  }

  async #isListed({ informer, startedAtMs }: Followed, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    const leftMs = (startedAtMs ?? clock.monotonicMs()) + LIST_WITHIN_MS - clock.monotonicMs();
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

interface WriteScaleOptions {
  readonly scales: Pick<FollowedScales, 'set'>;
  readonly cause: ScaleCause;
  readonly signal: AbortSignal;
}

/** Writes the scale. @returns why it could not be written */
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
