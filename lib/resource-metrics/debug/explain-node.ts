import type { DebugSource } from './debug-source.ts';
import { explainHistory } from './explain-history.ts';
import type { Reason } from './reason.ts';

/** Why a node is not served; `undefined` for one that is. */
export function explainNode(source: DebugSource, name: string): Reason | undefined {
  const { nodes, sink } = source;
  if (!nodes.get(name)) {
    return nodes.isSynced
      ? {
          code: 'UnknownNode',
          message: `the API server knows no node "${name}", or --node-selector leaves it out`,
        }
      : { code: 'NodesNotListed', message: 'the nodes have not been listed yet' };
  }
  if (sink.snapshot.nodes.has(name)) return undefined;
  const obstacle = explainScrape(source, name);
  if (obstacle) return obstacle;
  const record = sink.held(name)?.record;
  if (!record?.history) {
    return {
      code: 'NodeUsageUnknown',
      message: `the kubelet of node "${name}" answers, but does not tell what the node itself uses`,
    };
  }
  return explainHistory(record.history, { of: `node "${name}"`, record });
}

/** How many nodes' kubelets cannot be scraped now: a pod that nobody tells of may run on one of them. */
export function countFailingNodes({ nodes, scrapes }: DebugSource): number {
  let count = 0;
  for (const { name } of nodes.values()) if (scrapes.get(name)?.failure) count++;
  return count;
}

/** Why nothing of a node can be served, whatever it is; `undefined` where its kubelet answers. */
export function explainScrape({ scrapes, sink }: DebugSource, nodeName: string): Reason | undefined {
  const scrape = scrapes.get(nodeName);
  if (!scrape) {
    return { code: 'NotScrapedYet', message: `the kubelet of node "${nodeName}" has not been asked yet` };
  }
  if (scrape.failure) {
    const since = new Date(scrape.failure.sinceMs).toISOString();
    return { code: 'NodeFailing', message: `${scrape.failure.message} (since ${since})` };
  }
  if (sink.held(nodeName)) return undefined;
  return {
    code: 'NotScrapedYet',
    message: `the answer of node "${nodeName}" is waiting for those of the others`,
  };
}
