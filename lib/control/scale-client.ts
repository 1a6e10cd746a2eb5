import * as z from 'zod';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { MalformedResponse } from '#lib/kubernetes/client/api-error.ts';
import { type ApiResource, objectPath } from '#lib/kubernetes/client/api-resource.ts';
import { retryOnConflict } from '#lib/kubernetes/client/resource-client.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { ScaleCause, ScaleLog } from './scale-log.ts';

/** A `scaleTargetRef` with the namespace of its object. */
export interface ScaleTarget {
  readonly namespace: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/** The scale of a target at one moment. */
export interface Scale {
  readonly target: ScaleTarget;
  /** The served resource of the target's kind, possibly in another version than the target names. */
  readonly resource: ApiResource;
  readonly uid: string | undefined;
  readonly resourceVersion: string;
  /** Desired number of replicas. */
  readonly specReplicas: number;
  /** Current number of replicas. */
  readonly statusReplicas: number;
  /** Label selector of the pods; empty where the target has none. */
  readonly selector: string;
}

/** A target that cannot be scaled, whatever its state. */
export class UnscalableTarget extends Error {
  override readonly name = 'UnscalableTarget';
  /** The kind is not served, or its resource has no scale subresource in a namespace. */
  readonly reason: 'UnknownKind' | 'NoScaleSubresource';

  constructor(message: string, reason: UnscalableTarget['reason']) {
    super(message);
    this.reason = reason;
  }
}

interface ScaleClientOptions {
  readonly api: ApiClient;
  readonly mapper: RestMapper;
  readonly clock: Clock;
  /** Logs a line for each scale that is set. A client that only reads needs none. */
  readonly scaleLog?: ScaleLog | undefined;
}

const REPLICAS = z.int().nonnegative().nullish(); // absent means 0: Go omits zeros

const SCALE = z.object({
  metadata: z.object({ resourceVersion: z.string(), uid: z.string().optional() }),
  spec: z.object({ replicas: REPLICAS }).nullish(),
  status: z.object({ replicas: REPLICAS, selector: z.string().optional() }).nullish(),
});

/** Reads and sets replicas by the scale subresource, which Deployments and many other kinds have. */
export class ScaleClient {
  readonly #options: ScaleClientOptions;

  constructor(options: ScaleClientOptions) {
    this.#options = options;
  }

  /** @throws {UnscalableTarget}; an ApiError that is not found where the object does not exist */
  async get(target: ScaleTarget, signal?: AbortSignal): Promise<Scale> {
    const resource = await this.resourceOf(target, signal);
    const path = objectPath(resource, target, 'scale');
    return scaleOf({ target, resource }, await this.#options.api.getJson(path, orNone(signal)));
  }

  /**
   * The served resource of the target's kind, whether or not the target exists. Objects without a namespace are not
   * scaled: every author of an object that names one could scale it, whatever their permissions.
   *
   * @throws {UnscalableTarget}
   */
  async resourceOf(target: ScaleTarget, signal?: AbortSignal): Promise<ApiResource> {
    const resource = await this.#options.mapper.find(target, signal);
    if (!resource) {
      throw new UnscalableTarget(
        `Cannot scale ${nameOf(target)}: the API server does not serve its kind`,
        'UnknownKind',
      );
    }
    if (!resource.namespaced) {
      const message = `Cannot scale ${nameOf(target)}: ${resource.plural} are not in namespaces`;
      throw new UnscalableTarget(message, 'NoScaleSubresource');
    }
    if (resource.subresources && !resource.subresources.includes('scale')) {
      const message = `Cannot scale ${nameOf(target)}: ${resource.plural} have no scale subresource`;
      throw new UnscalableTarget(message, 'NoScaleSubresource');
    }
    return resource;
  }

  /**
   * Sets the desired replicas.
   *
   * @param scale as it was read: nothing is written if another client has changed the desired replicas since, or the
   * target was created again; other changes of the target do not matter
   * @param cause for the log line of each write
   * @throws {UnscalableTarget}; an ApiError that is a conflict where the scale has changed
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
    throw new MalformedResponse(`Cannot read scale of ${nameOf(target)}`, { cause });
  }
}

/** With its version: `apps/v1 Deployment default/web`. */
function nameOf({ apiVersion, kind, namespace, name }: ScaleTarget): string {
  return `${apiVersion} ${kind} ${namespace}/${name}`;
}

function orNone(signal: AbortSignal | undefined): { readonly signal?: AbortSignal } {
  return signal ? { signal } : {};
}
