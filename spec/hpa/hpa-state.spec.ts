import { expect } from 'chai';
import { forRequests, refuseRequests } from '#simulator/api-server/faults.ts';
import { type HpaCluster, PATHS, startHpaCluster } from '#spec/support/hpa-cluster.ts';

describe('the state of the HPA controller', () => {
  /** Load rises, falls, and stays low: returns the replicas every 15 s; the leader may be killed after some of them. */
  async function play(killedAfter?: number): Promise<readonly number[]> {
    await using cluster = await startHpaCluster();
    await cluster.deployment('web', 2);
    const behavior = {
      scaleDown: {
        stabilizationWindowSeconds: 120,
        policies: [{ type: 'Pods', value: 2, periodSeconds: 60 }],
      },
    };
    await cluster.hpa('web', { spec: { behavior } });
    const loads = ['20', '60', '80', '30', ...Array.from({ length: 16 }, () => '10')];
    const taken: number[] = [];
    cluster.queue('web', loads[0] ?? '');
    await cluster.lead();
    for (const [index, load] of loads.entries()) {
      cluster.queue('web', load);
      await cluster.elapse(15);
      taken.push(await cluster.replicas('web'));
      if (index !== killedAfter) continue;
      await cluster.stop();
      await cluster.lead();
    }
    return taken;
  }

  it('makes later decisions independent of a kill within a window', async () => {
    const expected = await play();
    expect(expected.at(3)).to.equal(8);
    expect(expected.at(-1)).to.be.lessThan(8);
    expect(await play(6)).to.deep.equal(expected);
    expect(await play(14)).to.deep.equal(expected);
  });

  it('drops earlier recommendations after another controller has decided', async () => {
    await using cluster = await startHpaCluster();
    await setUp(cluster);
    cluster.queue('web', '160');
    await cluster.elapse(60);
    expect(await cluster.replicas('web')).to.equal(16);
    await cluster.stop();
    await cluster.clock.advance(3_600_000);
    await cluster.api.patch(`${PATHS.deployments}/web`, 'merge', { spec: { replicas: 2 } });
    const { status, ...hpa } = await cluster.get('web');
    const written = { ...hpa, status: { ...status, currentReplicas: 2, desiredReplicas: 2 } };
    const manager = 'kube-controller-manager';
    await cluster.api.put(`${PATHS.hpas}/web/status?fieldManager=${manager}`, written);
    await cluster.clock.advance(3_600_000);
    cluster.queue('web', '20');
    await cluster.lead();
    await cluster.elapse(60);
    expect(await cluster.replicas('web')).to.equal(2);
    cluster.queue('web', '10');
    await cluster.elapse(180);
    expect(await cluster.replicas('web')).to.equal(2); // the other's scaling is stabilized like ours
  });

  it('includes the recommendations of another controller that acted for longer than the window', async () => {
    await using cluster = await startHpaCluster();
    await setUp(cluster);
    for (let minute = 0; minute < 12; minute++) {
      const { status, ...hpa } = await cluster.get('web');
      const written = { ...hpa, status: { ...status, desiredReplicas: 8 + (minute % 2) } };
      const manager = 'kube-controller-manager';
      await cluster.api.put(`${PATHS.hpas}/web/status?fieldManager=${manager}`, written);
      await cluster.elapse(30);
    }
    await cluster.api.patch(`${PATHS.deployments}/web`, 'merge', { spec: { replicas: 8 } });
    await cluster.elapse(60);
    const types = (await cluster.get('web')).status.conditions.map(({ type }: { type: string }) => type);
    expect(types).to.include('ScalingLimited').and.not.include('ControlledElsewhere'); // it decides again
    await cluster.elapse(180);
    expect(await cluster.replicas('web')).to.equal(8);
    await cluster.elapse(120);
    expect(await cluster.replicas('web')).to.equal(2);
  });

  for (const [what, stepMs] of [
    ['back', -86_400_000],
    ['forward', 86_400_000],
  ] as const) {
    it(`retains its windows when the clock is stepped ${what} by a day`, async () => {
      await using cluster = await startHpaCluster();
      await setUp(cluster);
      cluster.queue('web', '60');
      await cluster.elapse(40);
      expect(await cluster.replicas('web')).to.equal(6);
      cluster.queue('web', '20');
      await cluster.elapse(60);
      cluster.clock.stepWall(stepMs);
      await cluster.elapse(180);
      expect(await cluster.replicas('web')).to.equal(6);
      await cluster.elapse(120);
      expect(await cluster.replicas('web')).to.equal(2);
    });
  }

  it('is persisted before the scale, only on change, and removed with its HPA', async () => {
    await using cluster = await startHpaCluster();
    await setUp(cluster);
    const memory = async () => (await cluster.api.get(PATHS.memory)).body;
    expect((await cluster.api.get(PATHS.memory)).status).to.equal(404); // the scale contains all state
    cluster.queue('web', '40');
    await cluster.elapse(20);
    const { metadata, data } = await memory();
    expect(Object.keys(data)).to.include('web');
    await cluster.elapse(90);
    expect((await memory()).data.web).to.equal(data.web);
    cluster.queue('web', '60');
    await cluster.elapse(20);
    const scaled = (await cluster.api.get(`${PATHS.deployments}/web`)).body;
    expect(scaled.spec.replicas).to.equal(6);
    const written = Number((await memory()).metadata.resourceVersion);
    expect(written).to.be.greaterThan(Number(metadata.resourceVersion));
    await cluster.api.delete(`${PATHS.hpas}/web`);
    await cluster.passes(async () => (await cluster.api.get(PATHS.memory)).status === 404);
  });

  it('includes the replicas before the bounds were applied, which the scale no longer has', async () => {
    await using cluster = await startHpaCluster();
    await cluster.deployment('web', 25);
    await cluster.hpa('web');
    cluster.queue('web', '200');
    await cluster.lead();
    await cluster.passes(async () => (await cluster.replicas('web')) === 20);
    expect((await cluster.api.get(PATHS.memory)).body.data?.web).to.contain('"latest":[25,');
  });

  it('does not block scaling when it cannot be read, and reports that once', async () => {
    await using cluster = await startHpaCluster();
    await setUp(cluster);
    cluster.queue('web', '160');
    await cluster.elapse(40);
    const memory = async () => (await cluster.api.get(PATHS.memory)).body.data?.web ?? '';
    expect(await memory()).to.contain('"latest":[16,');
    await cluster.stop();
    await cluster.clock.advance(3_600_000);
    await cluster.api.patch(`${PATHS.deployments}/web`, 'merge', { spec: { replicas: 4 } });
    const refuse = refuseRequests({ code: 403, reason: 'Forbidden' });
    cluster.setFaults(forRequests({ resource: 'configmaps' }, refuse));
    cluster.queue('web', '20');
    await cluster.deployment('far', 1);
    await cluster.hpa('far');
    cluster.queue('far', '30');
    await cluster.lead();
    await cluster.elapse(75); // decisions first wait for the persisted state
    expect([await cluster.replicas('web'), await cluster.replicas('far')]).to.deep.equal([4, 3]);
    const reported = cluster.logger.lines.filter(({ message }) =>
      message.startsWith('Cannot read persisted'),
    );
    expect(reported).to.have.lengthOf(1);
    await cluster.elapse(180);
    expect(await cluster.replicas('web')).to.equal(4);
    await cluster.elapse(120);
    expect(await cluster.replicas('web')).to.equal(2);
    cluster.setFaults();
    await cluster.elapse(30);
    expect(await memory()).to.contain('"latest":[2,'); // the next leader must not use the previous state
  });

  it('applies in a dry run, which persists nothing', async () => {
    await using cluster = await startHpaCluster();
    await cluster.deployment('web', 6);
    await cluster.hpa('web');
    cluster.queue('web', '90');
    await cluster.lead({ isDryRun: true });
    const desired = async () => {
      const gauge = /^horizontal_pod_autoscaler_controller_desired_replicas\{.*hpa_name="web"\} (\d+)$/m;
      return Number(gauge.exec(await cluster.running.registry.metrics())?.[1]);
    };
    await cluster.elapse(20);
    expect(await desired()).to.equal(9);
    cluster.queue('web', '20');
    await cluster.elapse(240);
    expect(await desired()).to.equal(9);
    await cluster.elapse(90);
    expect(await desired()).to.equal(2);
    expect(await cluster.replicas('web')).to.equal(6);
    expect((await cluster.api.get(PATHS.memory)).status).to.equal(404);
  });

  it('is read again after a namespace was without HPAs', async () => {
    await using cluster = await startHpaCluster();
    await setUp(cluster);
    cluster.queue('web', '60');
    await cluster.elapse(35);
    await cluster.api.delete(`${PATHS.hpas}/web`);
    await cluster.passes(async () => (await cluster.api.get(PATHS.memory)).status === 404);
    await cluster.elapse(1);
    let reads = 0;
    cluster.setFaults(
      forRequests(
        { verb: 'get', resource: 'configmaps' },
        {
          serve: (_, context) => {
            reads++;
            return context.next();
          },
        },
      ),
    );
    await cluster.hpa('web');
    await cluster.elapse(20);
    expect(reads).to.equal(2);
  });

  it('does not block scaling when it cannot be written, reports that once, and counts it', async () => {
    await using cluster = await startHpaCluster();
    const refuse = refuseRequests({ code: 403, reason: 'Forbidden' });
    cluster.setFaults(forRequests({ verb: 'create', resource: 'configmaps' }, refuse));
    await setUp(cluster);
    cluster.queue('web', '60');
    await cluster.elapse(35);
    expect(await cluster.replicas('web')).to.equal(6);
    const reported = cluster.logger.lines.filter(({ message }) =>
      message.startsWith('Cannot persist HPA state'),
    );
    expect(reported).to.have.lengthOf(1);
    const series = await cluster.running.registry.metrics();
    expect(series).to.match(/^autoscaler_hpa_memory_failures_total [1-9]/m);
    expect((await cluster.api.get(PATHS.memory)).status).to.equal(404);
  });

  async function setUp(cluster: HpaCluster): Promise<void> {
    await cluster.deployment('web', 2);
    await cluster.hpa('web');
    cluster.queue('web', '20');
    await cluster.lead();
    await cluster.elapse(20);
  }
});
