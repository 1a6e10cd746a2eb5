import { Informer, type InformerOptions } from '#lib/kubernetes/informer/informer.ts';
import type { LivePod, LivePods } from './live-pods.ts';
import { PodReducer } from './pod-reducer.ts';

/** What a pod cache works with. */
export type PodCacheOptions = Pick<InformerOptions<LivePod>, 'client' | 'clock' | 'logger'>;

/** Follows the cluster's running pods by their metadata alone. */
export class PodCache extends Informer<LivePod> implements LivePods {
  constructor({ client, clock, logger }: PodCacheOptions) {
    const reducer = new PodReducer();
    const collection = { path: '/api/v1/pods', fieldSelector: 'status.phase=Running', metadataOnly: true };
    super({ client, clock, logger, collection, transform: (pod) => reducer.reduce(pod) });
  }
}
