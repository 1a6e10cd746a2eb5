import { expect } from 'chai';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { openTriggerEnvironment } from '#lib/scaled-objects/triggers/trigger-environment.ts';
import { allTriggers, TriggerTypes } from '#lib/scaled-objects/triggers/trigger-registry.ts';
import { systemClock } from '#lib/time/clock.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { planned } from '#spec/support/planned-trigger.ts';
import { PATHS, startScaledObjectsCluster } from '#spec/support/scaled-objects-cluster.ts';

const TEMPLATE = {
  spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'worker' }] },
};
const SQL = { host: 'db', port: '1', userName: 'u', password: 'p', dbName: 'd' };
const SOURCES: readonly (readonly [string, Record<string, string>, string | RegExp, number | undefined])[] = [
  ['prometheus', { serverAddress: 'http://h:1/', query: 'q', threshold: '1' }, 'h:1', undefined],
  ['metrics-api', { url: 'http://h:2/', valueLocation: 'v', targetValue: '1' }, 'h:2', undefined],
  [
    'nats-jetstream',
    { natsServerMonitoringEndpoint: 'h:3', account: 'a', stream: 's', consumer: 'c', lagThreshold: '1' },
    'h:3',
    undefined,
  ],
  ['rabbitmq', { host: 'http://h:4/', queueName: 'q', mode: 'QueueLength', value: '1' }, 'h:4', undefined],
  [
    'rabbitmq',
    { host: 'amqp://u:p@h:5/', queueName: 'q', mode: 'QueueLength', value: '1' },
    /^\["h",5,/,
    undefined,
  ],
  [
    'influxdb',
    { serverURL: 'http://h:6/', query: 'q', organizationName: 'o', thresholdValue: '1' },
    'h:6',
    undefined,
  ],
  [
    'influxdb',
    {
      ...{ serverURL: 'http://h:7/', query: 'q', database: 'd', metricKey: 'k' },
      ...{ influxVersion: '3', queryType: 'InfluxQL', thresholdValue: '1' },
    },
    'h:7',
    undefined,
  ],
  [
    'postgresql',
    { ...SQL, sslmode: 'disable', query: 'q', targetQueryValue: '1' },
    /^database [0-9a-f]{32}$/,
    4,
  ],
  [
    'mysql',
    { host: 'db', port: '1', username: 'u', password: 'p', dbName: 'd', query: 'q', queryValue: '1' },
    /^database [0-9a-f]{32}$/,
    4,
  ],
  ['kubernetes-workload', { podSelector: 'a=b', value: '1' }, 'API server', undefined],
];

describe('sources that namespaces share', () => {
  it('respond to triggers of one namespace however many slow ones another has', async () => {
    await using stack = new AsyncDisposableStack();
    const cluster = stack.use(await startScaledObjectsCluster());
    let slow = 0;
    const source = stack.use(
      await LoopbackServer.start(({ url: { pathname } }, response) => {
        if (pathname === '/slow')
          slow++; // never responds
        else response.end('{"value":3}');
      }),
    );
    const trigger = (path: string) => ({
      type: 'metrics-api',
      metadata: { url: new URL(path, source.url).href, valueLocation: 'value', targetValue: '1' },
    });
    const many = (whose: string) =>
      Array.from({ length: 40 }, (_, index) => trigger(`/slow?${whose}=${index}`));
    const other = (path: string) => path.replace('/default/', '/other/');
    const job = (name: string, triggers: readonly object[]) => ({
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledJob', metadata: { name } },
      spec: { jobTargetRef: { template: TEMPLATE }, triggers },
    });
    await cluster.create('/api/v1/namespaces', {
      ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } },
    });
    await cluster.deployment('web', 1);
    const { spec } = await cluster.get(`${PATHS.deployments}/web`);
    await cluster.scaledObject('web', { triggers: many('object') });
    await cluster.create(PATHS.scaledJobs, job('slow', many('job')));
    await cluster.lead();
    await cluster.untilMet(() => slow >= 16);

    await cluster.create(other(PATHS.deployments), {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec },
    });
    await cluster.create(other(PATHS.scaledObjects), {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name: 'web' } },
      spec: { scaleTargetRef: { name: 'web' }, triggers: [trigger('/quick')] },
    });
    await cluster.create(other(PATHS.scaledJobs), job('quick', [trigger('/quick')]));
    await cluster.untilMet(() => {
      const selector = parseLabelSelector('scaledobject.keda.sh/name=web');
      try {
        return cluster.store.values('other', { metric: 's0-metric-api-value', selector })?.[0]?.value === '3';
      } catch {
        return false; // not queried yet
      }
    });
    await cluster.untilMet(async () => (await cluster.get(other(PATHS.jobs))).items.length === 3);
    expect(slow).to.equal(16);
  });

  for (const [type, metadata, source, maxConcurrent] of SOURCES)
    it(`are shared by the triggers of ${type} that query ${metadata.influxVersion ?? Object.values(metadata)[0]}`, async () => {
      await using opened = openTriggerEnvironment({
        ...{ clock: systemClock, userAgent: 'spec', allowedHosts: [], timeoutMs: 1000 },
        ...{ listPods: async () => [], listEndpoints: async () => [], findAddresses: undefined },
      });
      const trigger = new TriggerTypes(allTriggers(opened)).get(type);
      const { query } = await planned(trigger, { metadata, authentication: metadata });
      expect(query.source).to.match(source instanceof RegExp ? source : new RegExp(`^${source}$`));
      expect(query.maxConcurrent).to.equal(maxConcurrent);
      expect(query.source).to.not.contain('p@');
    });
});
