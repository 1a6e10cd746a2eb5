// Takes the pictures of docs/images: each page of both programs, in a simulated cluster on a manual clock, with
// Chromium.
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Browser } from '#spec/support/browser.ts';
import { eventually } from '#spec/support/eventually.ts';
import { findProgram } from '#spec/support/machine-programs.ts';
import { runServer } from '#spec/support/running-server.ts';
import { twoCycles } from '#spec/support/two-cycles.ts';
import {
  startWatchedAutoscaler,
  VIEWER_TOKEN,
  type WatchedAutoscaler,
} from '#spec/support/watched-autoscaler.ts';

const FOLDER = 'docs/images';
/** Folder of the narrow ones, for manual review. */
const NARROW_FOLDER = join(tmpdir(), 'narrow');
const WIDE = { width: 1100, height: 620 };
const NARROW = { width: 420, height: 900 };
const NODES = 6;

const API = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
const CRON_HPAS = '/apis/autoscaling.stke.com/v1beta1/namespaces/default/cronhorizontalpodautoscalers';
const KEDA = '/apis/keda.sh/v1alpha1/namespaces/default';
/** Orders in the queue, every 15 s: a morning. */
const ORDERS = [20, 20, 25, 45, 70, 90, 115, 118, 120, 112, 96, 80, 61, 42, 38, 30, 22, 20, 18, 18, 20, 22];

await mkdir(FOLDER, { recursive: true });
await mkdir(NARROW_FOLDER, { recursive: true });
const chromium = await findProgram('chromium');
if (!chromium) throw new Error('Cannot take pictures: Chromium not found; make tools installs it');
await using browser = await Browser.start(chromium);
await photographMetricsServer();
await photographAutoscaler();

async function photographMetricsServer(): Promise<void> {
  await using server = await runServer(
    {
      ...{
        nodes: NODES,
        podsPerNode: 3,
        namespaces: ['shop', 'billing', 'kube-system'],
        appsPerNamespace: 4,
      },
      nodeOverrides: { 'node-5': { faults: ['refuse'] } },
    },
    ['--metric-resolution=15s'],
  );
  const { authenticator, rbac } = server.cluster;
  authenticator.setToken('viewer-token', { username: 'viewer' });
  rbac.grant({
    ...{ name: 'debug', role: 'debug', users: ['viewer'] },
    rules: [{ verbs: ['get'], nonResourceURLs: ['/debug/*'] }],
  });
  await twoCycles(server, NODES - 1);
  for (let cycle = 0; cycle < 20; cycle++) {
    await server.clock.advance(15_000 - 1_400);
    await server.clock.advance(400);
    await server.scraped((NODES - 1) * (cycle + 3));
    await server.clock.advance(1_000);
  }
  await browser.open(`${server.origin}/ui`);
  const isShown = (selector: string) => async () =>
    (await browser.evaluate(`document.querySelector('${selector}')?.hidden === false`)) === true;
  await eventually(isShown('#access'));
  await browser.type('#token', 'viewer-token');
  await browser.click('#access button');
  await eventually(isShown('#content'));
  await photograph('metrics-server');
}

async function photographAutoscaler(): Promise<void> {
  await using autoscaler = await startWatchedAutoscaler();
  await createObjects(autoscaler);
  for (const orders of ORDERS) {
    setOrders(autoscaler, orders);
    await autoscaler.elapse(15);
  }
  await browser.sendToken(VIEWER_TOKEN);
  for (const [name, query] of [
    ['autoscaler', ''],
    ['autoscaler-hpas', '?view=hpas'],
    ['autoscaler-hpa', '?view=hpas&namespace=default&name=shop'],
    ['autoscaler-cronhpa', '?view=cronhpas&namespace=default&name=portal'],
    ['autoscaler-scaledobject', '?view=scaledobjects&namespace=default&name=mail'],
    ['autoscaler-metrics', '?view=metrics'],
    [
      'autoscaler-new',
      '/new?kind=hpa&name=basket&target=portal&min=2&max=20&cpu=60&metric=open-orders&value=10&query=sum(open_orders)',
    ],
  ] as const) {
    await browser.open(`${autoscaler.origin}/ui${query}`);
    await photograph(name);
  }
}

async function photograph(name: string): Promise<void> {
  await browser.resize(WIDE);
  await browser.photograph(`${FOLDER}/${name}.png`);
  await browser.resize(NARROW);
  await browser.photograph(`${NARROW_FOLDER}/${name}.png`);
}

async function createObjects(autoscaler: WatchedAutoscaler): Promise<void> {
  const { create, deployment, source, sourceUrl } = autoscaler;
  for (const name of ['shop', 'search', 'checkout', 'portal', 'mail'])
    await deployment(name, name === 'mail' ? 0 : 2);
  setOrders(autoscaler, 20);
  source.set('/orders', 40);
  source.set('/mails', 12);
  source.set('/jobs', 3);
  const external = (name: string, averageValue: string) => ({
    type: 'External',
    external: { metric: { name }, target: { type: 'AverageValue', averageValue } },
  });
  const hpa = (
    name: string,
    metrics: readonly object[],
    annotations: Readonly<Record<string, string>> = {},
  ) => ({
    ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name, annotations } },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      ...{ minReplicas: 2, maxReplicas: 12, metrics },
      behavior: { scaleDown: { stabilizationWindowSeconds: 60 } },
    },
  });
  await create(API, hpa('shop', [external('open-orders', '10'), external('waiting-payments', '30')]));
  await create(API, hpa('search', [external('queries', '50')]));
  const orders = `- {type: External, metric: orders, collector: json-path, endpoint: "${sourceUrl}/orders", json-key: $.value, interval: 15s}`;
  await create(API, hpa('checkout', [external('orders', '30')], { 'metric-config/collectors': orders }));
  await create(CRON_HPAS, {
    ...{
      apiVersion: 'autoscaling.stke.com/v1beta1',
      kind: 'CronHorizontalPodAutoscaler',
      metadata: { name: 'portal' },
    },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'portal' },
      jobs: [
        { name: 'morning', schedule: '0 0 8 * * MON-FRI', targetSize: 9, timeZone: 'Europe/Berlin' },
        { name: 'evening', schedule: '0 0 20 * * *', targetSize: 2, timeZone: 'Europe/Berlin' },
        { name: 'every-four-minutes', schedule: '0 */4 * * * *', targetSize: 4 },
      ],
    },
  });
  const trigger = (path: string) => ({
    type: 'metrics-api',
    metadata: { url: `${sourceUrl}${path}`, valueLocation: 'value', targetValue: '5' },
  });
  const office = { timezone: 'Europe/Berlin', start: '0 8 * * *', end: '0 18 * * *', desiredReplicas: '2' };
  await create(`${KEDA}/scaledobjects`, {
    ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name: 'mail' } },
    spec: {
      ...{ scaleTargetRef: { name: 'mail' }, pollingInterval: 10 },
      triggers: [trigger('/mails'), { type: 'cron', name: 'office', metadata: office }],
    },
  });
  const containers = [{ name: 'main', image: 'registry.example/thumbnails' }];
  await create(`${KEDA}/scaledjobs`, {
    ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledJob', metadata: { name: 'thumbnails' } },
    spec: {
      jobTargetRef: { template: { spec: { containers, restartPolicy: 'Never' } } },
      ...{ pollingInterval: 10, triggers: [trigger('/jobs')] },
    },
  });
}

function setOrders({ metrics }: WatchedAutoscaler, orders: number): void {
  const path = '/apis/external.metrics.k8s.io/v1beta1/namespaces/default';
  const set = (metric: string, value: number) =>
    metrics.responses.set(`${path}/${metric}`, {
      items: [{ metricName: metric, value: String(Math.round(value)) }],
    });
  set('open-orders', orders);
  set('orders', 55);
  set('s0-metric-api-value', 12);
  set('s1-cron-europe-berlin-08xxx-018xxx', 0); // the HPA controller requests lowercase names
  set('waiting-payments', 20 + orders * 1.6);
}
