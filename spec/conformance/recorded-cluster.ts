import type { ContainerUsage } from '#lib/resource-metrics/sink/snapshot.ts';
import {
  FakeMetricsSource,
  liveNode,
  livePod,
  nodeUsage,
  podUsage,
  snapshotOf,
} from '#spec/support/metrics-source.ts';

const KIB = 1024;
const NODE_LABELS = {
  'beta.kubernetes.io/arch': 'amd64',
  'beta.kubernetes.io/os': 'linux',
  'kubernetes.io/arch': 'amd64',
  'kubernetes.io/hostname': 'lab-node',
  'kubernetes.io/os': 'linux',
};
const BURNER_LABELS = { app: 'burner', 'pod-template-hash': '7b8469d94f', tier: 'web' };
const PODS_TAKEN_AT_MS = Date.UTC(2026, 10, 21, 8, 50, 23);

/** Number of orders in which the reference may have listed the containers of the two burners. */
export const CONTAINER_ORDERS = 4;

/**
 * The metrics that the reference served during the recording.
 *
 * @param publishedAtMs the time of the request, which the reference returns as the creation time
 * @param containerOrder from 0 to {@link CONTAINER_ORDERS}, exclusive
 */
export function recordedCluster(publishedAtMs: number, containerOrder: number): FakeMetricsSource {
  const first = inOrder(burner(60_595_128, 24_844, 303_621, 712), (containerOrder & 1) === 1);
  const second = inOrder(burner(60_116_045, 24_836, 261_030, 732), (containerOrder & 2) === 2);
  const taken = { timestampMs: PODS_TAKEN_AT_MS, windowMs: 14_997 };
  const quiet = [{ name: 'quiet', cpuNanocores: 0, memoryBytes: 212 * KIB }];
  const source = new FakeMetricsSource();
  source.current = snapshotOf({
    publishedAtMs,
    nodes: [
      nodeUsage('lab-node', {
        timestampMs: Date.UTC(2026, 10, 21, 8, 50, 16),
        windowMs: 10_023,
        cpuNanocores: 205_361_551,
        memoryBytes: 496_860 * KIB,
      }),
    ],
    pods: [
      podUsage('kube-system', 'quiet', { ...taken, containers: quiet }),
      podUsage('default', 'burner-7b8469d94f-j6l7q', { ...taken, containers: first }),
      podUsage('default', 'burner-7b8469d94f-ww8lg', { ...taken, windowMs: 15_006, containers: second }),
    ],
  });
  source.liveNodes.set('lab-node', liveNode('lab-node', { labels: NODE_LABELS }));
  for (const { namespace, name } of [...source.current.pods.values()].flatMap((pods) => [...pods.values()])) {
    const labels = namespace === 'default' ? BURNER_LABELS : { 'k8s-app': 'quiet' };
    source.livePods.set(`${namespace}/${name}`, livePod(namespace, name, { labels }));
  }
  return source;
}

/** The same cluster before its first metrics, with nodes that have none later either. */
export function unmeasuredCluster(publishedAtMs: number): FakeMetricsSource {
  const source = recordedCluster(publishedAtMs, 0);
  source.current = snapshotOf({ publishedAtMs });
  for (const name of ['dead-node', 'hollow-plain']) source.liveNodes.set(name, liveNode(name));
  return source;
}

function burner(
  burnNanocores: number,
  burnKib: number,
  sideNanocores: number,
  sideKib: number,
): ContainerUsage[] {
  return [
    { name: 'burn', cpuNanocores: burnNanocores, memoryBytes: burnKib * KIB },
    { name: 'side', cpuNanocores: sideNanocores, memoryBytes: sideKib * KIB },
  ];
}

function inOrder<T>(items: readonly T[], isReversed: boolean): readonly T[] {
  return isReversed ? items.toReversed() : items;
}
