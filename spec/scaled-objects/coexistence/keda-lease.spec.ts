import { expect } from 'chai';
import { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { OperatorLease } from '#lib/scaled-objects/coexistence/keda-lease.ts';
import type { Rule } from '#simulator/access/rbac.ts';
import { forRequests, refuseRequests } from '#simulator/api-server/faults.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const KEDA = { namespace: 'keda' };
const pathIn = (namespace: string) => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
const LEASES = pathIn('keda');

describe('OperatorLease', () => {
  it('is absent without a lease', async () => {
    await using cluster = await start();
    expect(await cluster.check()).to.deep.equal({ kind: 'absent' });
  });

  it('is held while it is renewed, and ends after a minute without renewal', async () => {
    await using cluster = await start();
    await cluster.hold({ leaseDurationSeconds: 15 });
    for (let renewal = 0; renewal < 3; renewal++) {
      expect(await cluster.check()).to.deep.equal({ kind: 'held', holder: 'keda-operator-1', ...KEDA });
      await cluster.server.clock.advance(10_000);
      await cluster.renew();
    }
    expect(await cluster.check()).to.deep.include({ kind: 'held' });
    await cluster.server.clock.advance(60_000);
    expect(await cluster.check()).to.deep.include({ kind: 'held' });
    await cluster.server.clock.advance(1);
    expect(await cluster.check()).to.deep.include({ kind: 'ended' });
    await cluster.renew();
    expect(await cluster.check()).to.deep.include({ kind: 'held' });
  });

  it('has not ended while one of several operators takes over from another, with and without giving back', async () => {
    for (const isGivenBack of [true, false]) {
      await using cluster = await start();
      const { clock } = cluster.server;
      await cluster.hold({});
      expect(await cluster.check()).to.deep.include({ kind: 'held' });
      if (isGivenBack) await cluster.change({ holderIdentity: '', leaseDurationSeconds: 1 });
      for (let second = 0; second < 20; second++) {
        expect((await cluster.check()).kind).to.equal(isGivenBack ? 'released' : 'held');
        await clock.advance(1000);
      }
      await cluster.change({ holderIdentity: 'keda-operator-2', leaseDurationSeconds: 15 });
      expect(await cluster.check()).to.deep.equal({ kind: 'held', holder: 'keda-operator-2', ...KEDA });
    }
  });

  it('ends a minute after it is released or deleted, until it has a holder again', async () => {
    for (const isDeleted of [true, false]) {
      await using cluster = await start();
      const { clock } = cluster.server;
      await cluster.hold({ leaseDurationSeconds: 3600 });
      await cluster.check();
      if (isDeleted) await cluster.remove();
      else await cluster.change({ holderIdentity: '' });
      expect(await cluster.check()).to.deep.include({ kind: 'released' });
      await clock.advance(60_000);
      expect(await cluster.check()).to.deep.include({ kind: 'released' });
      await clock.advance(1);
      expect(await cluster.check()).to.deep.include({ kind: 'ended' });
      if (!isDeleted) await cluster.remove();
      expect((await cluster.check()).kind).to.be.oneOf(['ended', 'absent']);
      expect((await cluster.check()).kind).to.equal('absent');
      await cluster.hold({});
      expect(await cluster.check()).to.deep.include({ kind: 'held' });
    }
  });

  it('has ended at the first read if the renewal is minutes old, but not if the clocks differ by a moment', async () => {
    await using cluster = await start();
    const { clock } = cluster.server;
    await cluster.hold({ renewTime: timeText(clock.nowMs() - 599_000) });
    expect(await cluster.check()).to.deep.include({ kind: 'held' });
    await using other = await start();
    await other.hold({ renewTime: timeText(other.server.clock.nowMs() - 601_000) });
    expect(await other.check()).to.deep.include({ kind: 'ended' });
    await other.renew();
    expect(await other.check()).to.deep.include({ kind: 'held' });
  });

  it('has ended after a minute without renewal, whatever duration, renewal or other change it writes', async () => {
    const nowMs = Date.UTC(2026, 0, 1);
    for (const spec of [
      { leaseDurationSeconds: undefined },
      { leaseDurationSeconds: 90 },
      { leaseDurationSeconds: 2_147_483_647 },
      { leaseDurationSeconds: 2_147_483_647, renewTime: timeText(nowMs + 68 * 365 * 86_400_000) },
    ]) {
      await using cluster = await start();
      await cluster.hold(spec);
      await cluster.check();
      await cluster.server.clock.advance(60_000);
      expect(await cluster.check()).to.deep.include({ kind: 'held' });
      await cluster.server.client.patch(`${LEASES}/operator.keda.sh`, 'merge', {
        metadata: { annotations: { a: 'b' } },
        spec: { leaseDurationSeconds: 3600 },
      });
      await cluster.server.clock.advance(1);
      expect(await cluster.check()).to.deep.include({ kind: 'ended' });
    }
  });

  it('counts in no namespace but that of KEDA by default', async () => {
    await using cluster = await start();
    await cluster.hold({ holderIdentity: 'tenant' }, { namespace: 'default' });
    expect(await cluster.check()).to.deep.equal({ kind: 'absent' });
    await cluster.hold({});
    expect(await cluster.check()).to.deep.include({ kind: 'held', ...KEDA });
  });

  it('needs only the permission to get its name in one namespace', async () => {
    await using cluster = await start();
    await cluster.hold({});
    const lease = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };
    expect(
      await cluster.readAs([{ ...lease, resourceNames: ['operator.keda.sh'], verbs: ['get'] }]),
    ).to.deep.include({ kind: 'held' });
  });

  it('counts in any namespace on demand, and is held if any of several leases is', async () => {
    await using cluster = await start({ countsEverywhere: true });
    const elsewhere = { namespace: 'kube-system' };
    await cluster.hold({ holderIdentity: 'keda-operator-9' }, elsewhere);
    expect(await cluster.check()).to.deep.equal({ kind: 'held', holder: 'keda-operator-9', ...elsewhere });
    await cluster.hold({ renewTime: timeText(0) });
    expect(await cluster.check()).to.deep.include({ kind: 'held', ...elsewhere });
    await cluster.renew();
    await cluster.remove(elsewhere);
    expect(await cluster.check()).to.deep.include({ kind: 'held', ...KEDA });
  });

  it('needs only permissions for its name, and is read in one namespace if leases may not be listed', async () => {
    await using cluster = await start({ countsEverywhere: true });
    await cluster.hold({ holderIdentity: 'keda-operator-9' }, { namespace: 'kube-system' });
    const lease = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };
    const resourceNames = ['operator.keda.sh'];
    const checks = async (...rules: readonly Rule[]) => await cluster.readAs(rules);
    expect(await checks({ ...lease, resourceNames, verbs: ['get', 'list'] })).to.deep.include({
      kind: 'held',
    });
    expect(await checks({ ...lease, resourceNames, verbs: ['get'] })).to.deep.equal({ kind: 'absent' });
    await cluster.hold({});
    expect(await checks({ ...lease, resourceNames, verbs: ['get'] })).to.deep.include({
      kind: 'held',
      ...KEDA,
    });
    expect(await checks({ ...lease, resourceNames: ['other'], verbs: ['get', 'list'] })).to.deep.equal({
      kind: 'forbidden',
    });
  });

  it('reports that it may not be read, and fails for other errors', async () => {
    await using cluster = await start();
    const refuse = (code: number, reason: string) =>
      cluster.server.cluster.apiServer.setFaults(
        forRequests({ resource: 'leases' }, refuseRequests({ code, reason })),
      );
    refuse(403, 'Forbidden');
    expect(await cluster.check()).to.deep.equal({ kind: 'forbidden' });
    refuse(500, 'InternalError');
    expect(await errorOf(cluster.check())).to.match(/500/);
  });
});

async function start({ countsEverywhere = false } = {}) {
  const server: SimulatedApiServer = await startSimulatedApiServer();
  await server.client.post('/api/v1/namespaces', {
    ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'keda' } },
  });
  const { clock } = server;
  const client = new ApiClient({ access: await server.access(), clock, userAgent: 'spec/1' });
  const lease = new OperatorLease({ client, clock, namespace: 'keda', countsEverywhere });
  let renewals = 0;
  return {
    server,
    check: () => lease.read(new AbortController().signal),
    /** One check with only these permissions. */
    async readAs(rules: readonly Rule[]) {
      server.cluster.authenticator.setToken('token', { username: 'somebody' });
      server.cluster.rbac.grant({ name: 'somebody', role: 'somebody', users: ['somebody'], rules });
      const admin = await server.access();
      const tls = { ...admin.tls, cert: undefined, key: undefined };
      const load = async () => ({ tls, authorization: 'Bearer token' });
      const source = { server: admin.server, proxy: undefined, load };
      const access = await ClusterAccess.open(source, { clock, logger: new RecordingLogger() });
      await using client = new ApiClient({ access, clock, userAgent: 'spec/1' });
      const lease = new OperatorLease({ client, clock, ...KEDA, countsEverywhere });
      return await lease.read(new AbortController().signal);
    },
    async hold(spec: object, { namespace } = KEDA) {
      const renewTime = timeText(clock.nowMs());
      const { status, body } = await server.client.post(pathIn(namespace), {
        ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'operator.keda.sh' } },
        spec: { holderIdentity: 'keda-operator-1', leaseDurationSeconds: 15, renewTime, ...spec },
      });
      expect(status, JSON.stringify(body)).to.equal(201);
    },
    async renew() {
      const renewTime = timeText(clock.nowMs() + ++renewals);
      await server.client.patch(`${LEASES}/operator.keda.sh`, 'merge', { spec: { renewTime } });
    },
    change: (spec: object) => server.client.patch(`${LEASES}/operator.keda.sh`, 'merge', { spec }),
    remove: ({ namespace } = KEDA) => server.client.delete(`${pathIn(namespace)}/operator.keda.sh`),
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

function timeText(atMs: number): string {
  return new Date(atMs).toISOString().replace('Z', '000Z');
}
