import * as z from 'zod';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { MalformedResponse } from '#lib/kubernetes/client/api-error.ts';
import { type ApiResource, objectPath } from '#lib/kubernetes/client/api-resource.ts';
import { retryOnConflict } from '#lib/kubernetes/client/resource-client.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ScaleCause, ScaleLog } from './scale-log.ts';

/** What is to be scaled: a `scaleTargetRef` with its object's namespace. */
export interface ScaleTarget {
  readonly namespace: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/** The scale of a target, as of one moment. */
export interface Scale {
  readonly target: ScaleTarget;
  /** Where the target's kind is served now, which may be in another version than the target names. */
  readonly resource: ApiResource;
  readonly uid: string | undefined;
  readonly resourceVersion: string;
  /** How many there are to be. */
  readonly specReplicas: number;
  /** How many there are. */
  readonly statusReplicas: number;
  /** Selects the pods; empty where the target has none. */
  readonly selector: string;
}

/** A target that cannot be scaled, whatever state it is in. */
export class UnscalableTarget extends Error {
  override readonly name = 'UnscalableTarget';
  /** Nothing serves the kind, or what serves it has no scale subresource. */
  readonly reason: 'UnknownKind' | 'NoScaleSubresource';

  constructor(message: string, reason: UnscalableTarget['reason']) {
    super(message);
    this.reason = reason;
  }
}

/** What a scale client works with. */
interface ScaleClientOptions {
  readonly api: ApiClient;
  readonly mapper: RestMapper;
  readonly clock: Clock;
  /** Has a line for each scale that is set. A client that only reads needs none. */
  readonly scaleLog?: ScaleLog | undefined;
}

const REPLICAS = z.int().nonnegative().nullish(); // none is none: Go leaves out a zero

const SCALE = z.object({
  metadata: z.object({ resourceVersion: z.string(), uid: z.string().optional() }),
  spec: z.object({ replicas: REPLICAS }).nullish(),
  status: z.object({ replicas: REPLICAS, selector: z.string().optional() }).nullish(),
});

/** Reads and sets how many replicas something has, by the scale subresource that Deployments and many others have. */
export class ScaleClient {
  readonly #options: ScaleClientOptions;

  constructor(options: ScaleClientOptions) {
    this.#options = options;
  }

  /** @throws {UnscalableTarget}; an ApiError that is not found where there is no such object */
  async get(target: ScaleTarget, signal?: AbortSignal): Promise<Scale> {
    const resource = await this.resourceOf(target, signal);
    const path = objectPath(resource, target, 'scale');
    return scaleOf({ target, resource }, await this.#options.api.getJson(path, orNone(signal)));
  }

  /** Where the target's kind is served now, be there such a target or not. @throws {UnscalableTarget} */
  async resourceOf(target: ScaleTarget, signal?: AbortSignal): Promise<ApiResource> {
    const resource = await this.#options.mapper.find(target, signal);
    if (!resource) {
      throw new UnscalableTarget(`Cannot scale ${nameOf(target)}: nothing serves its kind`, 'UnknownKind');
    }
    if (resource.subresources && !resource.subresources.includes('scale')) {
      const message = `Cannot scale ${nameOf(target)}: ${resource.plural} have no scale subresource`;
      throw new UnscalableTarget(message, 'NoScaleSubresource');
    }
    return resource;
  }

  /**
   * Sets how many replicas there are to be.
   *
   * @param scale as it was read: if another client has changed since how many there are to be, or the target is another
   *   one of that name, nothing is written; all other changes of the target are no obstacle
   * @param cause for the log line that each scale write has
   * @throws {UnscalableTarget}; an ApiError that is a conflict where the scale is not what it was
   */
  async set(scale: Scale, replicas: number, cause: ScaleCause, signal?: AbortSignal): Promise<Scale> {
    const reread = async () => {
      const latest = await this.get(scale.target, signal);
      return latest.specReplicas === scale.specReplicas && latest.uid === scale.uid ? latest : undefined;
    };
    const written = await retryOnConflict(scale, (latest) => this.#put(latest, replicas, signal), {
      reread,
      clock: this.#options.clock,
      signal,
    });
    const { kind, namespace, name } = scale.target;
    const change = { from: scale.specReplicas, to: replicas };
    this.#options.scaleLog?.scaled(`${kind} ${namespace}/${name}`, change, cause);
    return written;
  }

  async #put(
    { target, resource, uid, resourceVersion }: Scale,
    replicas: number,
    signal?: AbortSignal,
  ): Promise<Scale> {
    const { name, namespace } = target;
    const body = {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name, namespace, resourceVersion, ...(uid && { uid }) },
      spec: { replicas },
    };
    const path = objectPath(resource, target, 'scale');
    return scaleOf(
      { target, resource },
      await this.#options.api.requestJson({ method: 'PUT', path, body }, orNone(signal)),
    );
  }
}

function scaleOf({ target, resource }: Pick<Scale, 'target' | 'resource'>, value: unknown): Scale {
  const { metadata, spec, status } = readScale(target, value);
  return {
    target,
    resource,
    uid: metadata.uid,
    resourceVersion: metadata.resourceVersion,
    specReplicas: spec?.replicas ?? 0,
    statusReplicas: status?.replicas ?? 0,
    selector: status?.selector ?? '',
  };
}

function readScale(target: ScaleTarget, value: unknown): z.output<typeof SCALE> {
  try {
    return readAs(SCALE, 'a Scale', value);
  } catch (cause) {
    throw new MalformedResponse(`Cannot use the scale of ${nameOf(target)}`, { cause });
  }
}

/** As kubectl names it, with its version: `apps/v1 Deployment default/web`. */
function nameOf({ apiVersion, kind, namespace, name }: ScaleTarget): string {
  return `${apiVersion} ${kind} ${namespace}/${name}`;
}

function orNone(signal: AbortSignal | undefined): { readonly signal?: AbortSignal } {
  return signal ? { signal } : {};
}
