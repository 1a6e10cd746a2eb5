import type { ApiContext } from '#lib/doctor/cluster-context.ts';
import { collectionPath } from '#lib/kubernetes/client/api-resource.ts';
import { type FollowedHpa, followedHpa, HPA_VERSIONS } from '#lib/kubernetes/objects/hpa-versions.ts';

/** The HPAs that the checks of one examination share: listed once. */
export class ExaminedHpas {
  readonly #namespace: string | undefined;
  #hpas: Promise<readonly FollowedHpa[]> | undefined;

  /** @param namespace the one to look at; `undefined` for all */
  constructor(namespace: string | undefined) {
    this.#namespace = namespace;
  }

  /** All of them, in the best version that the API server has. */
  async all(context: ApiContext): Promise<readonly FollowedHpa[]> {
    this.#hpas ??= this.#list(context);
    return await this.#hpas;
  }

  async #list(context: ApiContext): Promise<readonly FollowedHpa[]> {
    for (const version of HPA_VERSIONS) {
      const kind = { apiVersion: `autoscaling/${version}`, kind: 'HorizontalPodAutoscaler' };
      const resource = await context.mapper.findExact(kind, context.signal);
      if (!resource) continue;
      const collection = { path: collectionPath(resource, this.#namespace) };
      return await context.list('horizontalpodautoscalers.autoscaling', collection, (value) => {
        try {
          return followedHpa(value, version);
        } catch {
          return undefined;
        }
      });
    }
    return [];
  }
}
