import { Informer, type InformerOptions } from '#lib/kubernetes/informer/informer.ts';
import type { LiveNode, LiveNodes } from './live-nodes.ts';
import { reduceNode } from './reduce-node.ts';

/** What a node cache works with. */
export interface NodeCacheOptions extends Pick<InformerOptions<LiveNode>, 'client' | 'clock' | 'logger'> {
  /** A label selector; empty or absent admits every node. */
  readonly selector?: string | undefined;
}

/** Follows the cluster's nodes, or those that a label selector admits. */
export class NodeCache extends Informer<LiveNode> implements LiveNodes {
  constructor({ client, clock, logger, selector }: NodeCacheOptions) {
    const collection = { path: '/api/v1/nodes', labelSelector: selector };
    super({ client, clock, logger, collection, transform: reduceNode });
  }
}
