import type { WatchedAutoscaler } from './watched-autoscaler.ts';

const HPAS = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
const CRON_HPAS = '/apis/autoscaling.stke.com/v1beta1/namespaces/default/cronhorizontalpodautoscalers';
const KEDA = '/apis/keda.sh/v1alpha1/namespaces/default';

/** A script injection for pages that do not escape it. */
export const HOSTILE = '<img src=x onerror="alert(1)">';

/** Creates objects of all kinds that the page shows: healthy, failing and hostile ones. */
export async function createShownObjects(autoscaler: WatchedAutoscaler): Promise<void> {
  const { create, deployment, source, sourceUrl } = autoscaler;
  for (const name of ['web', 'broken', 'worker', 'mail', 'night', 'quiet', 'stuck'])
    await deployment(name, name === 'mail' || name === 'quiet' ? 0 : 2);
  setQueue(autoscaler, 20);
  const external = (name: string, averageValue: string) => ({
    type: 'External',
    external: { metric: { name }, target: { type: 'AverageValue', averageValue } },
  });
  await create(HPAS, hpa('web', [external('queue', '10'), external('orders', '30')]));
  await create(HPAS, hpa('broken', [external('missing', '10')]));
  const collected = [
    `{type: External, metric: orders, collector: json-path, endpoint: "${sourceUrl}/orders", json-key: $.value, interval: 15s}`,
    `{type: External, metric: down, collector: json-path, endpoint: "${sourceUrl}/down", json-key: $.value}`,
    `{type: External, metric: odd, collector: ${JSON.stringify(HOSTILE)}, query: a}`,
  ];
  source.set('/orders', 60);
  await create(
    HPAS,
    hpa('worker', [external('orders', '30'), external('down', '5'), external('odd', '5')], {
      'metric-config/collectors': collected.map((one) => `- ${one}`).join('\n'),
    }),
  );
  await create(CRON_HPAS, cronHpa('night', 'Deployment', 'scale-up'));
  await create(CRON_HPAS, cronHpa('nowhere', 'Deployment', HOSTILE));
  source.set('/mails', 12);
  source.set('/jobs', 3);
  source.set('/quiet', 0);
  await create(`${KEDA}/scaledobjects`, scaledObject('mail', [trigger(sourceUrl, '/mails')]));
  await create(`${KEDA}/scaledobjects`, scaledObject('quiet', [trigger(sourceUrl, '/quiet'), CRON]));
  await create(`${KEDA}/scaledobjects`, scaledObject('stuck', [trigger(sourceUrl, '/down')]));
  await create(`${KEDA}/scaledjobs`, scaledJob('thumbnails', [trigger(sourceUrl, '/jobs')]));
}

/** Sets the external metrics of the HPA `web`. */
export function setQueue({ metrics }: WatchedAutoscaler, value: number): void {
  const path = '/apis/external.metrics.k8s.io/v1beta1/namespaces/default';
  metrics.responses.set(`${path}/queue`, { items: [{ metricName: 'queue', value: String(value) }] });
  const orders = String(Math.round(20 + value * 1.6));
  metrics.responses.set(`${path}/orders`, { items: [{ metricName: 'orders', value: orders }] });
}

function hpa(name: string, metrics: readonly object[], annotations: Readonly<Record<string, string>> = {}) {
  return {
    ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name, annotations } },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      ...{ minReplicas: 1, maxReplicas: 12, metrics },
      behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
    },
  };
}

function cronHpa(name: string, kind: string, job: string) {
  return {
    apiVersion: 'autoscaling.stke.com/v1beta1',
    kind: 'CronHorizontalPodAutoscaler',
    metadata: { name },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind, name },
      jobs: [
        { name: job, schedule: '0 */3 * * * *', targetSize: 4 },
        { name: 'scale-down', schedule: '0 0 22 * * *', targetSize: 2, timeZone: 'Europe/Berlin' },
        { name: 'resting', schedule: '@daily', targetSize: 1, suspend: true },
      ],
    },
  };
}

const CRON = {
  type: 'cron',
  name: 'office',
  metadata: { timezone: 'Etc/UTC', start: '0 8 * * *', end: '0 18 * * *', desiredReplicas: '2' },
};

function trigger(url: string, path: string) {
  return {
    type: 'metrics-api',
    metadata: { url: `${url}${path}`, valueLocation: 'value', targetValue: '5' },
  };
}

function scaledObject(name: string, triggers: readonly object[]) {
  return {
    ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name } },
    spec: { scaleTargetRef: { name }, pollingInterval: 10, triggers },
  };
}

function scaledJob(name: string, triggers: readonly object[]) {
  const containers = [{ name: 'main', image: 'busybox' }];
  return {
    ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledJob', metadata: { name } },
    spec: {
      jobTargetRef: { template: { spec: { containers, restartPolicy: 'Never' } } },
      ...{ pollingInterval: 10, triggers },
    },
  };
}
