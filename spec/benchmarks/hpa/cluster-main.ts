// Runs a cluster of HPAs in a process of its own, controlled by messages.
import {
  type ClusterCounts,
  type Reaction,
  ScaledCluster,
  type ScaledClusterOptions,
} from './scaled-cluster.ts';

/** Messages to the process. */
export type ClusterOrder =
  | { readonly kind: 'counts' }
  | { readonly kind: 'raise'; readonly index: number; readonly percent: number };

/** Messages from the process. */
export type ClusterMessage =
  | { readonly kind: 'ready'; readonly kubeconfig: string }
  | { readonly kind: 'failed'; readonly problem: string }
  | { readonly kind: 'counts'; readonly counts: ClusterCounts }
  | { readonly kind: 'scaled'; readonly index: number; readonly reaction: Reaction };

const report = (message: ClusterMessage) => void process.send?.(message);

try {
  const options = JSON.parse(process.argv[2] ?? '') as ScaledClusterOptions;
  const cluster = await ScaledCluster.start(options);
  process.once('disconnect', () => void cluster[Symbol.asyncDispose]().finally(() => process.exit()));
  process.on('message', (order: ClusterOrder) => {
    if (order.kind === 'counts') return report({ kind: 'counts', counts: cluster.takeCounts() });
    const { index, percent } = order;
    void cluster.raise(index, percent).then((reaction) => report({ kind: 'scaled', index, reaction }));
  });
  report({ kind: 'ready', kubeconfig: cluster.kubeconfig });
} catch (error) {
  report({ kind: 'failed', problem: String(error) });
  process.exitCode = 1;
  process.disconnect?.();
}
