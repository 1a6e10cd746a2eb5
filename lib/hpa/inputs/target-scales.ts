import {
  type Scale,
  type ScaleClient,
  type ScaleTarget,
  UnscalableTarget,
} from '#lib/control/scale-client.ts';
import type { ScaleCause } from '#lib/control/scale-log.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { serverWords } from '#lib/kubernetes/client/api-error.ts';
import { type ApiResource, collectionPath } from '#lib/kubernetes/client/api-resource.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { Informer } from '#lib/kubernetes/informer/informer.ts';
import type { HorizontalPodAutoscaler } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { FOLLOWED_KINDS, type FollowedTarget, followedTarget } from '#lib/kubernetes/objects/workload.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ScaleFailure } from '../decision/decision-input.ts';

/** What {@link FollowedScales} works with. */
interface FollowedScalesOptions {
  readonly client: ApiClient;
  readonly mapper: RestMapper;
  readonly scales: Pick<ScaleClient, 'get' | 'set'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A scale, and whether it is what the informer knew, or what the API server says now. */
interface ReadScale {
  readonly scale: Scale;
  readonly isFollowed: boolean;
}

interface Followed {
  readonly informer: Informer<FollowedTarget>;
  readonly startedAtMs: number;
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
export class FollowedScales implements AsyncDisposable {
  readonly #options: FollowedScalesOptions;
  readonly #followed = new Map<string, Followed>();
  /** The version that was read live or written last, of targets that the informer is behind of. */
  readonly #newer = new Map<string, string>();

  constructor(options: FollowedScalesOptions) {
    this.#options = options;
  }

  /** Of how many targets it knows a newer version than the one that was followed up to now. */
  get aheadCount(): number {
    return this.#newer.size;
  }

  /** Begins to follow the kind of a target. */
  async notice(target: Pick<ScaleTarget, 'apiVersion' | 'kind'>): Promise<void> {
    if (!FOLLOWED_KINDS.has(target.kind)) return;
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

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#followed.values()].map(({ informer }) => informer[Symbol.asyncDispose]()));
  }

  async #known(target: ScaleTarget, signal: AbortSignal): Promise<Scale | undefined> {
    if (!FOLLOWED_KINDS.has(target.kind)) return undefined;
    const resource = await this.#options.mapper.find(target, signal);
    const followed = resource && this.#follow(resource);
    if (!followed || !(await this.#isListed(followed, signal))) return undefined;
    const found = followed.informer.find(`${target.namespace}/${target.name}`);
    if (!found) return undefined; // it may just have been made
    const key = keyOf(target, resource);
    this.#caughtUp(key, found);
    return this.#newer.has(key) ? undefined : { ...found, target, resource };
  }

  /** Forgets the version that was ahead of what is followed now, or of a target that is gone. */
  #caughtUp(key: string, found: FollowedTarget | undefined): void {
    const newer = this.#newer.get(key);
    if (newer !== undefined && Number(found?.resourceVersion ?? newer) >= Number(newer))
      this.#newer.delete(key);
  }

  #note(scale: Scale): void {
    const { target, resource, resourceVersion } = scale;
    const followed = this.#followed.get(collectionPath(resource));
    if (!followed) return;
    const key = keyOf(target, resource);
    this.#newer.set(key, resourceVersion);
    const found = followed.informer.find(`${target.namespace}/${target.name}`);
    if (found) this.#caughtUp(key, found); // its watch may have been quicker
  }

  #follow(resource: ApiResource): Followed | undefined {
    if (resource.group !== 'apps' || !FOLLOWED_KINDS.has(resource.kind)) return undefined;
    const path = collectionPath(resource);
    let followed = this.#followed.get(path);
    if (!followed) {
      const informer = new Informer({ ...this.#options, collection: { path }, transform: followedTarget });
      followed = { informer, startedAtMs: this.#options.clock.monotonicMs() };
      this.#followed.set(path, followed);
      informer.onChange(({ key, current }) => this.#caughtUp(`${path} ${key}`, current));
      informer.start();
    }
    return followed;
  }

  async #isListed({ informer, startedAtMs }: Followed, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options;
    const leftMs = startedAtMs + LIST_WITHIN_MS - clock.monotonicMs();
    if (informer.isSynced || leftMs <= 0) return informer.isSynced;
    const waiting = new AbortController();
    const ended = AbortSignal.any([signal, waiting.signal]);
    await Promise.race([informer.synced(ended), clock.sleep(leftMs, { signal: ended })]).finally(() =>
      waiting.abort(),
    );
    return informer.isSynced;
  }
}

function keyOf({ namespace, name }: ScaleTarget, resource: ApiResource): string {
  return `${collectionPath(resource)} ${namespace}/${name}`;
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
