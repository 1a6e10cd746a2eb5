import { expect } from 'chai';
import { builtInTypes } from '#simulator/resources/kinds/built-in-types.ts';
import { startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const versionsOf = (minor: number, group: string) => [
  ...new Set(
    builtInTypes(minor)
      .filter((type) => type.group === group)
      .map(({ version }) => version),
  ),
];

describe('builtInTypes', () => {
  for (const [minor, autoscaling, policy] of [
    [20, ['v1', 'v2beta2'], ['v1beta1']],
    [22, ['v1', 'v2beta2'], ['v1', 'v1beta1']],
    [23, ['v2', 'v1', 'v2beta2'], ['v1', 'v1beta1']],
    [26, ['v2', 'v1'], ['v1']],
    [34, ['v2', 'v1'], ['v1']],
  ] as const) {
    it(`are those of 1.${minor}`, () => {
      expect(versionsOf(minor, 'autoscaling')).to.deep.equal(autoscaling);
      expect(versionsOf(minor, 'policy')).to.deep.equal(policy);
    });
  }

  it('are served as an older cluster has them', async () => {
    await using server = await startSimulatedApiServer({ scenario: { kubernetesMinor: 20 } });
    const { client } = server;
    expect((await client.get('/version')).body.gitVersion).to.equal('v1.20.2');
    expect((await client.get('/apis/autoscaling/v2')).status).to.equal(404);
    const path = '/apis/autoscaling/v2beta2/namespaces/default/horizontalpodautoscalers';
    const spec = {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' },
      maxReplicas: 3,
      behavior: {},
    };
    const { status, body } = await client.post(path, { metadata: { name: 'a' }, spec });
    expect(status).to.equal(201);
    expect(body.apiVersion).to.equal('autoscaling/v2beta2');
    expect(body.spec.minReplicas).to.equal(1);
    expect(body.spec.behavior.scaleUp.policies).to.have.length(2);
  });

  it('store quantities of autoscalers in their canonical form, and refuse others', async () => {
    await using server = await startSimulatedApiServer();
    const { client } = server;
    const path = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
    const create = (name: string, averageValue: unknown, tolerance: unknown) =>
      client.post(path, {
        metadata: { name },
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' },
          maxReplicas: 2,
          metrics: [
            {
              type: 'External',
              external: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue } },
            },
          ],
          behavior: { scaleUp: { tolerance } },
        },
      });
    const { status, body } = await create('a', 1, 0.05);
    expect(status).to.equal(201);
    expect(body.spec.metrics[0].external.target.averageValue).to.equal('1');
    expect(body.spec.behavior.scaleUp.tolerance).to.equal('50m');
    const patched = await client.patch(`${path}/a`, 'json', [
      { op: 'replace', path: '/spec/metrics/0/external/target/averageValue', value: '2000m' },
    ]);
    expect(patched.body.spec.metrics[0].external.target.averageValue).to.equal('2');
    const refused = await create('b', 'many', 0);
    expect([refused.status, refused.body.message]).to.deep.equal([
      400,
      'HorizontalPodAutoscaler in version "v2" cannot be handled as a HorizontalPodAutoscaler: ' +
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ]);
  });

  it('check autoscalers, and show those of one version in another', async () => {
    await using server = await startSimulatedApiServer();
    const { client } = server;
    const path = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' };
    const refused = await client.post(path, {
      metadata: { name: 'a' },
      spec: { scaleTargetRef, minReplicas: 3, maxReplicas: 2 },
    });
    expect(refused.body.message).to.equal(
      'HorizontalPodAutoscaler.autoscaling "a" is invalid: spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`',
    );
    const metric = {
      type: 'External',
      external: { metric: { name: 'queue' }, target: { type: 'Value', value: '3' } },
    };
    await client.post(path, {
      metadata: { name: 'a' },
      spec: { scaleTargetRef, maxReplicas: 2, metrics: [metric] },
    });
    const old = path.replace('v2', 'v1');
    const { body } = await client.get(`${old}/a`);
    expect(JSON.parse(body.metadata.annotations['autoscaling.alpha.kubernetes.io/metrics'])).to.deep.equal([
      { type: 'External', external: { metricName: 'queue', targetValue: '3' } },
    ]);
    await client.patch(`${old}/a`, 'merge', { spec: { targetCPUUtilizationPercentage: 70 } });
    const { body: both } = await client.get(`${path}/a`);
    expect(both.spec.metrics.map(({ type }: { type: string }) => type)).to.deep.equal([
      'Resource',
      'External',
    ]);
    expect(both.metadata).not.to.have.property('annotations');
  });

  it('read the status of an autoscaler in its oldest version from annotations, of writes of the status alone', async () => {
    await using server = await startSimulatedApiServer();
    const { client } = server;
    const path = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';
    const old = path.replace('v2', 'v1');
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' };
    const { body: made } = await client.post(old, {
      metadata: { name: 'a', annotations: { note: 'mine' } },
      spec: { scaleTargetRef, maxReplicas: 2 },
    });
    const annotation = 'autoscaling.alpha.kubernetes.io/conditions';
    const condition = { type: 'AbleToScale', status: 'True', reason: 'ReadyForNewScale' };
    const annotations = { [annotation]: JSON.stringify([condition]), note: 'yours' };
    const written = {
      ...made,
      metadata: { ...made.metadata, annotations },
      status: { currentReplicas: 1, desiredReplicas: 2 },
    };
    const { status } = await client.put(`${old}/a/status`, written);
    expect(status).to.equal(200);
    const { body: shown } = await client.get(`${path}/a`);
    expect(shown.status).to.deep.include({ desiredReplicas: 2, conditions: [condition] });
    expect(shown.metadata.annotations).to.deep.equal({ note: 'mine' });
    await client.patch(`${old}/a`, 'merge', {
      metadata: { annotations: { [annotation]: null, note: 'new' } },
    });
    const { body: after } = await client.get(`${path}/a`);
    expect(after.status.conditions).to.deep.equal([condition]);
    expect(after.metadata.annotations).to.deep.equal({ note: 'new' });
  });

  it('show an event of either group in the other', async () => {
    await using server = await startSimulatedApiServer();
    const { client } = server;
    const regarding = { kind: 'Pod', namespace: 'default', name: 'p' };
    const path = '/apis/events.k8s.io/v1/namespaces/default/events';
    await client.post(path, {
      metadata: { name: 'e' },
      regarding,
      note: 'It ran',
      reason: 'Ran',
      type: 'Normal',
      reportingController: 'c',
    });
    const core = await client.get('/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Dp');
    expect(core.body.items[0]).to.deep.include({
      involvedObject: regarding,
      message: 'It ran',
      reportingComponent: 'c',
    });
    expect((await client.get(`${path}/e`)).body).to.deep.include({
      apiVersion: 'events.k8s.io/v1',
      regarding,
      note: 'It ran',
    });
  });
});
