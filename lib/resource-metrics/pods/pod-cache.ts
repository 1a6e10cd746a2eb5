import { ObjectCache, type ObjectCacheOptions } from '#lib/kubernetes/informer/object-cache.ts';
import type { LivePod, LivePods } from './live-pods.ts';
import { PodReducer } from './pod-reducer.ts';

/** What a pod cache works with. */
export type PodCacheOptions = Pick<ObjectCacheOptions<LivePod>, 'client' | 'clock' | 'logger'>;

/** Follows the cluster's running pods by their metadata alone. */
export class PodCache extends ObjectCache<LivePod> implements LivePods {
  constructor({ client, clock, logger }: PodCacheOptions) {
    const reducer = new PodReducer();
    const collection = { path: '/api/v1/pods', fieldSelector: 'status.phase=Running', metadataOnly: true };
    super({ client, clock, logger, collection, reduce: (pod) => reducer.reduce(pod) });
  }
}
