import type { FilledQueues } from './filled-queues.ts';
import { PUSHED_METRIC } from './pushing-scaler.ts';
import type { QueueClusterOptions } from './queue-cluster.ts';

/** Variation of an object by its index. */
export function kindOf(index: number, { busyPercent, pushed, namespaces }: QueueClusterOptions) {
  const isPushed = index < pushed;
  const step = Math.floor(index / namespaces); // the same in each namespace
  return {
    isPushed,
    isBusy: !isPushed && step % 10 < busyPercent / 10,
    /** The second trigger's query is shared by a tenth of the namespace. */
    isSharing: step % 10 === 7,
    /** The second trigger polls the broker that hangs later. */
    isAtOtherBroker: step % 10 === 5,
  };
}

export function placeOf(index: number, { namespaces }: QueueClusterOptions) {
  return { namespace: `team-${(index % namespaces) + 1}`, name: `web-${index}` };
}

/** Name of an object's own queue. */
export function queueOf(index: number): string {
  return `web-${index}`;
}

/** Paths at which HPAs request an object's metrics. */
export function pathsOf(index: number, options: QueueClusterOptions): readonly string[] {
  const { namespace, name } = placeOf(index, options);
  const first = kindOf(index, options).isPushed ? `s0-${PUSHED_METRIC}` : 's0-prometheus';
  const selector = encodeURIComponent(`scaledobject.keda.sh/name=${name}`);
  return [first, 's1-metric-api-length'].map(
    (metric) =>
      `/apis/external.metrics.k8s.io/v1beta1/namespaces/${namespace}/${metric}?labelSelector=${selector}`,
  );
}

export function deployment(index: number, options: QueueClusterOptions) {
  const { namespace, name } = placeOf(index, options);
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace, name, generation: 1 } },
    spec: {
      ...{ replicas: kindOf(index, options).isBusy ? 1 : 0, selector: { matchLabels: { app: name } } },
      template: {
        metadata: { labels: { app: name } },
        spec: { containers: [{ name: 'app', image: 'web' }] },
      },
    },
  };
}

export function scaledObject(index: number, options: QueueClusterOptions, queues: FilledQueues) {
  const { namespace, name } = placeOf(index, options);
  const { isPushed, isSharing, isAtOtherBroker } = kindOf(index, options);
  const broker = isAtOtherBroker ? queues.otherBrokerUrl : queues.brokerUrl;
  const query = `sum(queue_length{queue="${queueOf(index)}"})`;
  const first = isPushed
    ? { type: 'external-push', metadata: { scalerAddress: queues.scalerAddress } }
    : { type: 'prometheus', metadata: { serverAddress: queues.prometheusUrl, query, threshold: '5' } };
  const url = `${broker}/${isSharing ? namespace : `other-${name}`}`;
  const second = { type: 'metrics-api', metadata: { url, valueLocation: 'length', targetValue: '5' } };
  return {
    ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { namespace, name, generation: 1 } },
    spec: {
      scaleTargetRef: { name },
      pollingInterval: options.pollingMs / 1000,
      triggers: [first, second],
    },
  };
}

/** Status of an HPA after a sync. */
export function hpaStatus(value: number) {
  const now = new Date().toISOString();
  const of = (type: string, reason: string) => ({
    ...{ type, status: 'True', reason, message: 'as it should be', lastTransitionTime: now },
  });
  const metric = { name: 's0-prometheus' };
  return {
    ...{ currentReplicas: 1, desiredReplicas: 1, lastScaleTime: now },
    currentMetrics: [{ type: 'External', external: { metric, current: { averageValue: `${value}m` } } }],
    conditions: [of('AbleToScale', 'ReadyForNewScale'), of('ScalingActive', 'ValidMetricFound')],
  };
}
