import { expect } from 'chai';
import { debugScaledObjects } from '#lib/scaled-objects/observability/debug-scaled-objects.ts';
import { debugOptions, preparedTrigger, REPORTED_AT } from '#spec/support/scaled-object-reports.ts';
import { PATHS, startScaledObjectsCluster } from '#spec/support/scaled-objects-cluster.ts';
import { servePage } from '#spec/support/served-page.ts';

describe('debugScaledObjects', () => {
  it('has the value, activity and next poll of each trigger', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 12);
    await cluster.deployment('web', 2);
    await cluster.scaledObject('web', { cooldownPeriod: 100, triggers: [cluster.trigger('/queue')] });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Active')).startsWith('True'));
    const [active] = (await cluster.debug()).scaledObjects;
    expect(active).to.deep.include({
      namespace: 'default',
      name: 'web',
      hpa: 'keda-hpa-web',
      next: 'leave the replicas to the HPA while a trigger is active',
    });
    const [metric] = active.triggers[0].metrics;
    expect(metric).to.deep.include({
      ...{ metric: 's0-metric-api-value', state: 'value', values: [12], isActive: true },
      ...{ target: 5, targetType: 'AverageValue' },
    });
    expect(metric.activeSince).to.match(/^2026-01-01T00:00:0/);
    expect(metric.nextInMs).to.be.within(1, 15_000);
    cluster.source.set('/queue', 0);
    await cluster.elapse(16);
    await cluster.untilMet(async () =>
      (await cluster.condition('web', 'Active')).startsWith('False ScalerCooldown'),
    );
    const [cooling] = (await cluster.debug()).scaledObjects;
    expect(cooling.next).to.equal('scale to 0, unless a trigger is active by then');
    expect(cooling.nextInMs).to.be.within(60_000, 100_001);
    expect(cooling.triggers[0].metrics[0]).to.include({ isActive: false });
    expect(cooling.triggers[0].metrics[0]).to.have.property('inactiveSince');
    cluster.source.set('/queue', { status: 500 });
    await cluster.elapse(16);
    await cluster.untilMet(
      async () => (await cluster.debug()).scaledObjects[0].triggers[0].metrics[0].failures > 0,
    );
    const [failing] = (await cluster.debug('?name=web')).scaledObjects;
    expect(failing.triggers[0].metrics[0]).to.include({
      state: 'failing',
      error: 'error requesting metrics endpoint: /queue: api returned 500',
    });
    expect((await cluster.debug('?name=other')).scaledObjects).to.deep.equal([]);
  });

  it('has the reason of an unusable object, its pause, and ScaledJobs', async () => {
    await using cluster = await startScaledObjectsCluster();
    cluster.source.set('/queue', 3);
    await cluster.deployment('web', 1);
    await cluster.scaledObject('web', { triggers: [{ type: 'kafka', metadata: {} }] });
    await cluster.deployment('paused', 1);
    const annotations = { 'autoscaling.keda.sh/paused': 'true' };
    await cluster.scaledObject('paused', { triggers: [cluster.trigger('/queue')] }, { annotations });
    await cluster.create(PATHS.scaledJobs, {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledJob', metadata: { name: 'work' } },
      spec: {
        jobTargetRef: { template: { spec: { containers: [{ name: 'main', image: 'worker' }] } } },
        triggers: [cluster.trigger('/queue')],
      },
    });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Ready')).startsWith('False'));
    await cluster.untilMet(async () => (await cluster.condition('paused', 'Paused')).startsWith('True'));
    await cluster.untilMet(
      async () => (await cluster.debug()).scaledJobs[0].triggers?.[0].metrics[0].values?.[0] === 3,
    );
    const { scaledObjects } = await cluster.debug();
    const [paused, web] = [...scaledObjects].sort((a, b) => a.name.localeCompare(b.name));
    expect(web.triggers[0].error).to.match(/^no scaler found for type: kafka; supported types are /);
    expect(web.next).to.equal('check the object again');
    expect(paused.next).to.equal('do nothing until the pause ends');
  });

  it('has all known details of each object, and omits unknown ones', async () => {
    const nowMs = Date.parse(REPORTED_AT);
    const trigger = { type: 'prometheus', metadata: {} };
    const object = (namespace: string, name: string, status?: object) => ({
      ...{ metadata: { namespace, name }, spec: { scaleTargetRef: { name }, triggers: [trigger] } },
      ...(status && { status }),
    });
    const conditions = [
      { type: 'Ready', status: 'True', message: 'all is well' },
      { type: 'Active', status: 'False' },
    ];
    const health = { s1: { numberOfFailures: 2, status: 'Failing' } };
    const refused = new Error('refused');
    const reported = debugOptions({
      objects: [
        object('a', 'web', {
          conditions,
          ...{ health, hpaName: 'keda-hpa-web', lastActiveTime: '2026-07-15T07:00:00Z' },
        }),
        object('a', 'left'),
        object('b', 'web'),
      ] as never,
      jobs: [{ metadata: { namespace: 'b', name: 'work' }, spec: { jobTargetRef: {}, triggers: [trigger] } }],
      triggers: {
        'a/web': [
          preparedTrigger('prometheus', { name: 'queue', metric: { metricName: 's0', requested: 'up' } }),
          preparedTrigger('redis', { metric: { metricName: 's1', target: 7, targetType: 'Value' } }),
          preparedTrigger('cpu', { resource: { resource: 'cpu' } as never }),
          preparedTrigger('kafka', { error: new Error('no scaler found') }),
        ],
        'b/work': [preparedTrigger('cron', { metric: { metricName: 's4' } })],
      },
      metrics: {
        s0: {
          ...{ state: { kind: 'value', values: [12, 7], isActive: true, atMs: 0 }, nextInMs: 8000.4 },
          ...{ tookMs: 31.6, activity: { isActive: true, sinceMs: nowMs - 60_000 } },
        },
        s1: {
          ...{ state: { kind: 'fallback', error: refused } },
          failure: { count: 4, sinceMs: nowMs - 300_000, error: refused },
          activity: { isActive: false, sinceMs: nowMs - 30_000 },
        },
        s4: {
          state: { kind: 'failing', error: refused },
          failure: { count: 1, sinceMs: nowMs, error: refused },
        },
      },
      next: {
        'a/web': { what: 'scale to 0', atMs: nowMs + 1499.6 },
        'a/left': { what: 'not told of', atMs: nowMs },
        'b/web': { what: 'look again', atMs: nowMs - 1 },
        'b/work': { what: 'not told of', atMs: nowMs },
      },
      other: { evidence: 'somebody writes', on: ['ScaledObject left'] },
    });
    await using page = await servePage(debugScaledObjects(reported));
    const { body } = await page.get();
    const unknown = { conditions: {} };
    const left = { namespace: 'a', name: 'left', managedByKeda: 'somebody writes', ...unknown };
    const last = { namespace: 'b', name: 'web', ...unknown, next: 'look again', nextInMs: 0 };
    const metric = { metric: 's4', query: 'value of s4', state: 'failing' };
    const work = {
      ...{ namespace: 'b', name: 'work', ...unknown },
      triggers: [
        {
          type: 'cron',
          metrics: [
            {
              ...{ ...metric, target: 5, targetType: 'AverageValue', error: 'refused' },
              ...{ failingSince: '2026-07-15T08:00:00.000Z', failures: 1, nextInMs: 0 },
            },
          ],
        },
      ],
    };
    expect(JSON.parse(body)).to.deep.equal({
      managedByKeda: 'somebody writes',
      scaledObjects: [
        {
          ...{ namespace: 'a', name: 'web', conditions: { Ready: 'True: all is well', Active: 'False' } },
          ...{
            hpa: 'keda-hpa-web',
            lastActiveTime: '2026-07-15T07:00:00Z',
            next: 'scale to 0',
            nextInMs: 1500,
          },
          triggers: [
            {
              ...{ type: 'prometheus', name: 'queue' },
              metrics: [
                {
                  ...{ metric: 's0', query: 'up', state: 'value', values: [12, 7], isActive: true },
                  ...{ target: 5, targetType: 'AverageValue', activeSince: '2026-07-15T07:59:00.000Z' },
                  ...{ tookMs: 32, nextInMs: 8000 },
                },
              ],
            },
            {
              type: 'redis',
              metrics: [
                {
                  ...{
                    metric: 's1',
                    query: 'value of s1',
                    state: 'fallback',
                    target: 7,
                    targetType: 'Value',
                  },
                  ...{ inactiveSince: '2026-07-15T07:59:30.000Z', error: 'refused', nextInMs: 0 },
                  ...{ failingSince: '2026-07-15T07:55:00.000Z', failures: 4, countedFailures: 2 },
                },
              ],
            },
            { type: 'cpu', resource: 'cpu', metrics: [] },
            { type: 'kafka', error: 'no scaler found', metrics: [] },
          ],
        },
        ...[left, last],
      ],
      scaledJobs: [work],
    });
    expect(body).to.match(/^\{\n {2}"managedBy.*\n\}\n$/s);
    const found = async (query: string) => {
      const { scaledObjects, scaledJobs } = JSON.parse((await page.get(query)).body);
      return [...scaledObjects, ...scaledJobs].map(({ namespace, name }) => `${namespace}/${name}`);
    };
    expect(await found('?namespace=b')).to.deep.equal(['b/web', 'b/work']);
    expect(await found('?name=web')).to.deep.equal(['a/web', 'b/web']);
    expect(await found('?namespace=b&name=work')).to.deep.equal(['b/work']);
    const { status, headers } = await page.get('', { method: 'HEAD' });
    expect([status, headers['content-type']]).to.deep.equal([200, 'application/json']);
    expect((await page.get('', { method: 'POST' })).status).to.equal(405);
  });

  it('omits ScaledJobs in replicas that do not lead, and the operator if there is none', async () => {
    const jobs = [{ metadata: { namespace: 'b', name: 'work' }, spec: { jobTargetRef: {}, triggers: [] } }];
    await using page = await servePage(debugScaledObjects(debugOptions({ jobs, isLeader: false })));
    expect(JSON.parse((await page.get()).body)).to.deep.equal({ scaledObjects: [], scaledJobs: [] });
    const { status, body } = await page.get('?namespce=default');
    expect([status, JSON.parse(body).message]).to.deep.equal([
      400,
      'unknown query parameter "namespce": supported: namespace, name',
    ]);
  });
});
