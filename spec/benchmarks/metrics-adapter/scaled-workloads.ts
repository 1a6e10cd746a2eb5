import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { podAddress } from './counted-sources.ts';

/** Number of HPAs, and their metrics. */
export interface ScaledWorkloads {
  readonly hpas: number;
  readonly podsPerHpa: number;
  /** HPAs of the same namespace share a query. */
  readonly namespaces: number;
  readonly intervalSeconds: number;
}

const CREATED_AT_ONCE = 16;
const resource = (group: string, kind: string, plural: string, namespaced = true): ApiResource => ({
  ...{ group, version: group === 'autoscaling' ? 'v2' : 'v1' },
  ...{ kind, plural, namespaced },
});
const NAMESPACES = resource('', 'Namespace', 'namespaces', false);
const PODS = resource('', 'Pod', 'pods');
const DEPLOYMENTS = resource('apps', 'Deployment', 'deployments');
const HPAS = resource('autoscaling', 'HorizontalPodAutoscaler', 'horizontalpodautoscalers');

/**
 * Creates Deployments with ready pods, and HPAs with two External metrics and a Pods metric each. The HPAs of a
 * namespace share the second External metric.
 */
export async function createWorkloads(
  api: ApiClient,
  workloads: ScaledWorkloads,
  podPort: number,
): Promise<void> {
  const clientOf = (of: ApiResource) => new ResourceClient({ api, resource: of });
  const [namespaces, pods, deployments, hpas] = [NAMESPACES, PODS, DEPLOYMENTS, HPAS].map(clientOf);
  if (!namespaces || !pods || !deployments || !hpas) throw new Error('Cannot create workloads');
  for (let index = 0; index < workloads.namespaces; index++)
    await namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: `team-${index}` } });
  const indexes = Array.from({ length: workloads.hpas }, (_, index) => index).values();
  const work = async () => {
    for (const index of indexes) {
      const place = placeOf(index, workloads);
      await deployments.create(deployment(place));
      for (let number = 0; number < workloads.podsPerHpa; number++) {
        const { status, ...pod } = readyPod(place, number, podAddress(index * workloads.podsPerHpa + number));
        await pods.create(pod);
        await pods.patch(pod.metadata, { type: 'merge', body: { status } }, { subresource: 'status' });
      }
      await hpas.create(scaled(place, workloads, podPort));
    }
  };
  await Promise.all(Array.from({ length: CREATED_AT_ONCE }, work));
}

/** Paths that the HPA controller requests for the External metrics of each HPA. */
export function externalPaths(workloads: ScaledWorkloads): readonly string[] {
  return Array.from({ length: workloads.hpas }, (_, index) => {
    const { namespace, name } = placeOf(index, workloads);
    const selector = encodeURIComponent(`queue=${name},type=prometheus`);
    return `/apis/external.metrics.k8s.io/v1beta1/namespaces/${namespace}/own?labelSelector=${selector}`;
  });
}

/** Paths that the HPA controller requests for the Pods metric of each HPA. */
export function podsPaths(workloads: ScaledWorkloads): readonly string[] {
  return Array.from({ length: workloads.hpas }, (_, index) => {
    const { namespace, name } = placeOf(index, workloads);
    const selector = encodeURIComponent(`app=${name}`);
    return `/apis/custom.metrics.k8s.io/v1beta2/namespaces/${namespace}/pods/*/busy?labelSelector=${selector}`;
  });
}

interface Place {
  readonly namespace: string;
  readonly name: string;
}

function placeOf(index: number, { namespaces }: ScaledWorkloads): Place {
  return { namespace: `team-${index % namespaces}`, name: `web-${index}` };
}

function deployment({ namespace, name }: Place) {
  const template = { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'a', image: 'a' }] } };
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace, name } },
    // No replicas: the selected pods are created below, with addresses at which servers listen.
    spec: { replicas: 0, selector: { matchLabels: { app: name } }, template },
  };
}

function readyPod({ namespace, name }: Place, number: number, podIP: string) {
  const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }];
  return {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: { namespace, name: `${name}-${number}`, labels: { app: name } },
    // Not on a node of the cluster, whose kubelet would report another status.
    spec: { nodeName: 'loopback', containers: [{ name: 'a', image: 'a' }] },
    status: { phase: 'Running', podIP, conditions },
  };
}

function scaled({ namespace, name }: Place, { intervalSeconds }: ScaledWorkloads, podPort: number) {
  const interval = `${intervalSeconds}s`;
  const external = (metric: string) => `metric-config.external.${metric}.prometheus`;
  const target = { type: 'AverageValue', averageValue: '10' };
  const externalOf = (metric: string, matchLabels: Readonly<Record<string, string>>) => ({
    type: 'External',
    external: { metric: { name: metric, selector: { matchLabels } }, target },
  });
  return {
    ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler' },
    metadata: {
      ...{ namespace, name },
      annotations: {
        [`${external('own')}/query`]: `sum(rate(jobs_total{namespace="${namespace}",queue="${name}"}[1m]))`,
        [`${external('own')}/interval`]: interval,
        [`${external('shared')}/query`]: `sum(rate(jobs_total{namespace="${namespace}"}[1m]))`,
        [`${external('shared')}/interval`]: interval,
        'metric-config.pods.busy.json-path/json-eval': '$.queue.busy / $.queue.workers * 100',
        'metric-config.pods.busy.json-path/path': '/metrics.json',
        'metric-config.pods.busy.json-path/port': String(podPort),
        'metric-config.pods.busy.json-path/interval': interval,
      },
    },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      ...{ minReplicas: 1, maxReplicas: 10 },
      metrics: [
        externalOf('own', { type: 'prometheus', queue: name }),
        externalOf('shared', { type: 'prometheus' }),
        { type: 'Pods', pods: { metric: { name: 'busy' }, target } },
      ],
    },
  };
}
