import { expect } from 'chai';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { OperatorLease } from '#lib/scaled-objects/other-operator/operator-lease.ts';
import { concerning } from '#lib/simulator/api-server/faults/api-fault.ts';
import { refuseRequests } from '#lib/simulator/api-server/faults/refuse-requests.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/keda/leases';

describe('OperatorLease', () => {
  it('is absent where there is none', async () => {
    await using world = await start();
    expect(await world.look()).to.deep.equal({ kind: 'absent' });
  });

  it('is held while it is renewed, and has ended once it was not for as long as it lasts', async () => {
    await using world = await start();
    await world.hold({ leaseDurationSeconds: 15 });
    for (let renewal = 0; renewal < 3; renewal++) {
      expect(await world.look()).to.deep.equal({ kind: 'held', holder: 'keda-operator-1' });
      await world.server.clock.advance(10_000);
      await world.renew();
    }
    expect(await world.look()).to.deep.include({ kind: 'held' });
    await world.server.clock.advance(15_000);
    expect(await world.look()).to.deep.include({ kind: 'held' });
    await world.server.clock.advance(1);
    expect(await world.look()).to.deep.equal({ kind: 'ended' });
    await world.renew();
    expect(await world.look()).to.deep.include({ kind: 'held' });
  });

  it('has ended once it was given back', async () => {
    await using world = await start();
    await world.hold({ holderIdentity: '' });
    expect(await world.look()).to.deep.equal({ kind: 'ended' });
  });

  it('has ended at the first look if it was renewed minutes ago, and not if that was a moment ago by another clock', async () => {
    await using world = await start();
    const { clock } = world.server;
    await world.hold({ renewTime: timeText(clock.nowMs() - 599_000) });
    expect(await world.look()).to.deep.include({ kind: 'held' });
    await using other = await start();
    await other.hold({ renewTime: timeText(other.server.clock.nowMs() - 601_000) });
    expect(await other.look()).to.deep.equal({ kind: 'ended' });
    await other.renew();
    expect(await other.look()).to.deep.include({ kind: 'held' });
  });

  it('lasts 15 seconds where it does not say how long', async () => {
    await using world = await start();
    await world.hold({ leaseDurationSeconds: undefined });
    await world.look();
    await world.server.clock.advance(15_000);
    expect(await world.look()).to.deep.include({ kind: 'held' });
    await world.server.clock.advance(1);
    expect(await world.look()).to.deep.equal({ kind: 'ended' });
  });

  it('says that it may not be read, and fails where that is not known', async () => {
    await using world = await start();
    const refuse = (code: number, reason: string) =>
      world.server.cluster.apiServer.setFaults(
        concerning({ resource: 'leases' }, refuseRequests({ code, reason })),
      );
    refuse(403, 'Forbidden');
    expect(await world.look()).to.deep.equal({ kind: 'forbidden' });
    refuse(500, 'InternalError');
    expect(await errorOf(world.look())).to.match(/500/);
  });
});

async function start() {
  const server: SimulatedApiServer = await startSimulatedApiServer();
  await server.client.post('/api/v1/namespaces', {
    ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'keda' } },
  });
  const { clock } = server;
  const client = new ApiClient({ access: await server.access(), clock, userAgent: 'spec/1' });
  const lease = new OperatorLease({ client, clock, namespace: 'keda' });
  let renewals = 0;
  return {
    server,
    look: () => lease.look(new AbortController().signal),
    async hold(spec: object) {
      const renewTime = timeText(clock.nowMs());
      const { status, body } = await server.client.post(LEASES, {
        ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'operator.keda.sh' } },
        spec: { holderIdentity: 'keda-operator-1', leaseDurationSeconds: 15, renewTime, ...spec },
      });
      expect(status, JSON.stringify(body)).to.equal(201);
    },
    async renew() {
      const renewTime = timeText(clock.nowMs() + ++renewals);
      await server.client.patch(`${LEASES}/operator.keda.sh`, 'merge', { spec: { renewTime } });
    },
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

function timeText(atMs: number): string {
  return new Date(atMs).toISOString().replace('Z', '000Z');
}
