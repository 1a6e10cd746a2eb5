import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { PATHS, startScaledObjectsCluster } from '#spec/support/scaled-objects-cluster.ts';

describe('docs/tasks/scale-by-queue.md', () => {
  it('starts with an object that scales from zero and back, as documented', async () => {
    const page = readFileSync('docs/tasks/scale-by-queue.md', 'utf8');
    const text = /```yaml\n(.*?)```/s.exec(page)?.[1] ?? '';
    expect(text.split('\n').length).to.be.within(8, 12);
    let waiting = 0;
    await using orders = await LoopbackServer.start((request, response) => {
      response.end(JSON.stringify(request.url.pathname === '/queue' ? { waiting } : {}));
    });
    await using cluster = await startScaledObjectsCluster();
    await cluster.deployment('worker', 0);
    const here = text.replace('http://orders.default:8080', `http://127.0.0.1:${orders.port}`);
    await cluster.create(PATHS.scaledObjects, parse(here));
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('worker', 'Ready')).startsWith('True'));
    expect(await cluster.replicas('worker')).to.equal(0);
    waiting = 12;
    await cluster.elapse(31);
    await cluster.untilMet(async () => (await cluster.replicas('worker')) === 1);
    const { spec } = await cluster.get(`${PATHS.hpas}/keda-hpa-worker`);
    expect([spec.minReplicas, spec.maxReplicas]).to.deep.equal([1, 20]);
    expect(spec.metrics[0].external.target).to.deep.equal({ type: 'AverageValue', averageValue: '5' });
    expect(cluster.external('s0-metric-api-waiting', 'worker')).to.equal('12');
    waiting = 0;
    await cluster.elapse(45);
    expect(await cluster.replicas('worker')).to.equal(1);
    await cluster.elapse(45);
    await cluster.untilMet(async () => (await cluster.replicas('worker')) === 0);
  });
});
