import type { ApiContext } from '#lib/doctor/cluster-context.ts';
import { collectionPath } from '#lib/kubernetes/client/api-resource.ts';
import { readObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { SCALED_JOBS, SCALED_OBJECTS } from '../api/resources.ts';
import type { ScaledJob } from '../api/scaled-job.ts';
import type { ScaledObject } from '../api/scaled-object.ts';

/** What there is of both kinds. */
export interface FoundObjects {
  readonly objects: readonly ScaledObject[];
  readonly jobs: readonly ScaledJob[];
}

/** The objects that the checks of one examination share: listed once. */
export class ExaminedObjects {
  readonly #namespace: string | undefined;
  #found: Promise<FoundObjects> | undefined;

  /** @param namespace the one to look at; `undefined` for all */
  constructor(namespace: string | undefined) {
    this.#namespace = namespace;
  }

  async all(context: ApiContext): Promise<FoundObjects> {
    this.#found ??= this.#list(context);
    return await this.#found;
  }

  async #list(context: ApiContext): Promise<FoundObjects> {
    const list = async <T>(resource: typeof SCALED_OBJECTS) =>
      await context.list(
        `${resource.plural}.${resource.group}`,
        { path: collectionPath(resource, this.#namespace) },
        (value) => readObject(value) as T,
      );
    return { objects: await list<ScaledObject>(SCALED_OBJECTS), jobs: await list<ScaledJob>(SCALED_JOBS) };
  }
}
