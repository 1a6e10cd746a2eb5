// Runs a cluster of ScaledObjects and their queues in a process of its own, controlled by messages.
import { QueueCluster, type QueueClusterOptions } from './queue-cluster.ts';

/** Messages to the process; each has a reply. */
export type QueueClusterOrder =
  | { readonly kind: 'counts' | 'watch' | 'requests' | 'hang' | 'paths' }
  | { readonly kind: 'fill'; readonly index: number };

const report = (message: object) => void process.send?.(message);

try {
  const cluster = await QueueCluster.start(JSON.parse(process.argv[2] ?? '') as QueueClusterOptions);
  const watch = async (order: QueueClusterOrder): Promise<unknown> => {
    if (order.kind === 'fill') return await cluster.fill(order.index);
    if (order.kind === 'watch') return cluster.watch();
    if (order.kind === 'hang') return cluster.hang();
    return cluster[order.kind];
  };
  process.once('disconnect', () => void cluster[Symbol.asyncDispose]().finally(() => process.exit()));
  process.on('message', ({ id, order }: { readonly id: number; readonly order: QueueClusterOrder }) => {
    void watch(order).then((result) => report({ id, result }));
  });
  report({ id: 0, result: cluster.kubeconfig });
} catch (error) {
  report({ id: 0, problem: String(error) });
  process.exitCode = 1;
  process.disconnect?.();
}
