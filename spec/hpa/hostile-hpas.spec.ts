import { expect } from 'chai';
import { type HpaCluster, PATHS, startHpaCluster } from '#spec/support/hpa-cluster.ts';

describe('hpaController with excessive HPAs', () => {
  let cluster: HpaCluster;

  beforeEach(async () => {
    cluster = await startHpaCluster();
    await cluster.deployment('well', 2);
    await cluster.hpa('well');
    cluster.queue('well', '20');
  });

  afterEach(async () => {
    await using _ending = cluster;
    cluster.queue('well', '40');
    await cluster.elapse(20);
    expect(await cluster.replicas('well')).to.equal(4); // independent of the other
  });

  it('requests with a selector of a thousand terms, and reports the error of the server', async () => {
    const matchExpressions = Array.from({ length: 1000 }, (_, index) => ({
      ...{ key: `label-${index}`, operator: 'NotIn', values: [`value-${index}`] },
    }));
    const labels = { app: 'web' };
    const created = await cluster.api.post(PATHS.deployments, {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
      spec: {
        ...{ replicas: 2, selector: { matchLabels: labels, matchExpressions } },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } },
      },
    });
    expect(created.status).to.equal(201);
    const target = { type: 'AverageValue', averageValue: '10' };
    const metrics = [{ type: 'Pods', pods: { metric: { name: 'qps' }, target } }];
    await cluster.hpa('web', { spec: { metrics } });
    await cluster.lead();
    await cluster.passes(async () => (await condition('web', 'ScalingActive')) !== undefined);
    expect(await condition('web', 'ScalingActive'))
      .to.have.property('message')
      .that.matches(/unable to fetch metrics from custom metrics API: .* \(status 431\)$/);
  });

  it('does not decide one with over 500 metrics, and requests none of them', async () => {
    await cluster.deployment('web', 2);
    cluster.queue('web', '40');
    const target = { type: 'AverageValue', averageValue: '10' };
    const external = { type: 'External', external: { metric: { name: 'web' }, target } };
    await cluster.hpa('web', { spec: { metrics: Array(501).fill(external) } });
    await cluster.lead();
    await cluster.passes(async () => (await condition('web', 'ScalingActive')) !== undefined);
    expect(await condition('web', 'ScalingActive')).to.include({
      ...{ status: 'False', reason: 'SpecTooLarge', message: 'the HPA has 501 metrics, more than 500' },
    });
    expect(await cluster.replicas('web')).to.equal(2);
    expect(cluster.metrics.asked.filter((path) => path.includes('/web'))).to.deep.equal([]);
    await cluster.api.patch(`${PATHS.hpas}/web`, 'merge', { spec: { metrics: [external] } });
    await cluster.elapse(35);
    expect(await cluster.replicas('web')).to.equal(4);
  });

  it('names overlapping HPAs in each of many, up to a limit', async () => {
    await cluster.deployment('web', 2);
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
    for (let index = 0; index < 60; index++) await cluster.hpa(`web-${index}`, { spec: { scaleTargetRef } });
    await cluster.lead();
    await cluster.elapse(35);
    const { reason, message } = await condition('web-7', 'ScalingActive');
    expect(reason).to.equal('AmbiguousSelector');
    expect(message).to.match(/\[default\/web-0 .* and 40 more\]$/);
    expect(await cluster.replicas('web')).to.equal(2);
  });

  it('continues with the same decisions after its target was deleted and recreated', async () => {
    await cluster.deployment('web', 2);
    await cluster.hpa('web');
    cluster.queue('web', '40');
    await cluster.lead();
    await cluster.passes(async () => (await cluster.replicas('web')) === 4);
    await cluster.api.delete(`${PATHS.deployments}/web`);
    await cluster.elapse(35);
    expect(await condition('web', 'AbleToScale')).to.include({ status: 'False', reason: 'FailedGetScale' });
    await cluster.deployment('web', 2);
    await cluster.elapse(35);
    expect(await cluster.replicas('web')).to.equal(4);
    expect(await condition('web', 'AbleToScale')).to.include({ status: 'True' });
  });

  async function condition(name: string, wanted: string) {
    const { status } = await cluster.get(name);
    return status?.conditions?.find(({ type }: { type: string }) => type === wanted);
  }
});
