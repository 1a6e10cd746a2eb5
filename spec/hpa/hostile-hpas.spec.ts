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

  it('does not decide one whose target has a selector of a thousand terms', async () => {
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
    expect(await condition('web', 'ScalingActive')).to.include({
      ...{ status: 'False', reason: 'InvalidSelector' },
      message: 'the selector of the scale has 27787 characters, more than 4096',
    });
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
    expect(cluster.metrics.requested.filter((path) => path.includes('/web'))).to.deep.equal([]);
    await cluster.api.patch(`${PATHS.hpas}/web`, 'merge', { spec: { metrics: [external] } });
    await cluster.elapse(35);
    expect(await cluster.replicas('web')).to.equal(4);
  });

  it('does not decide one beyond 15,000 metrics of its namespace until others are deleted', async () => {
    const target = { type: 'AverageValue', averageValue: '10' };
    const external = { type: 'External', external: { metric: { name: 'x' }, target } };
    for (let index = 0; index < 30; index++) {
      const name = `stopped-${index}`; // without replicas none of its metrics is requested
      await cluster.deployment(name, 0);
      await cluster.hpa(name, { spec: { metrics: Array(index === 29 ? 499 : 500).fill(external) } }); // one is of `well`
    }
    await cluster.lead();
    await cluster.passes(async () => (await condition('stopped-29', 'ScalingActive')) !== undefined);
    await cluster.deployment('web', 2);
    cluster.queue('web', '40');
    await cluster.hpa('web');
    await cluster.passes(async () => (await condition('web', 'ScalingActive')) !== undefined);
    const message = 'the HPAs of the namespace together have more than 15000 metrics';
    expect(await condition('web', 'ScalingActive')).to.include({
      ...{ status: 'False', reason: 'NamespaceBudgetExceeded', message },
    });
    await cluster.elapse(60);
    expect(cluster.events.filter((event) => event.startsWith('web '))).to.deep.equal([
      `web NamespaceBudgetExceeded ${message}`,
    ]);
    expect(await condition('stopped-29', 'ScalingActive')).to.include({ reason: 'ScalingDisabled' });
    expect(await cluster.replicas('web')).to.equal(2);
    await cluster.api.delete(`${PATHS.hpas}/stopped-7`);
    await cluster.elapse(35);
    expect(await cluster.replicas('web')).to.equal(4);
    expect(await condition('web', 'ScalingActive')).to.include({ status: 'True' });
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

  async function condition(name: string, expected: string) {
    const { status } = await cluster.get(name);
    return status?.conditions?.find(({ type }: { type: string }) => type === expected);
  }
});
