import { expect } from 'chai';
import { LeaseLock } from '#lib/control/lease.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { type SimulatedApi, startSimulatedApi } from '#spec/support/simulated-api.ts';

const LEASE = { namespace: 'default', name: 'lock' };
const PATH = '/apis/coordination.k8s.io/v1/namespaces/default/leases/lock';
const DURATION_MS = 15_000;

describe('LeaseLock', () => {
  let served: SimulatedApi;

  beforeEach(async () => {
    served = await startSimulatedApi();
  });
  afterEach(() => served[Symbol.asyncDispose]());

  const lockOf = (identity: string) =>
    new LeaseLock({ ...served, lease: LEASE, identity, durationMs: DURATION_MS });
  const hold = (lock: LeaseLock) =>
    lock.acquireOrRenew({ signal: new AbortController().signal, timeoutMs: 10_000 });
  const spec = async () => ((await served.api.getJson(PATH, {})) as { spec: Record<string, unknown> }).spec;

  it('creates a missing lease, and preserves its acquire time', async () => {
    const lock = lockOf('a');
    expect(lock.holder).to.equal(undefined);
    expect(await hold(lock)).to.equal(true);
    const { acquireTime } = await spec();
    await served.clock.advance(2_000);
    expect(await hold(lock)).to.equal(true);
    expect(await spec()).to.include({ holderIdentity: 'a', acquireTime, leaseTransitions: 0 });
    expect((await spec()).renewTime).to.not.equal(acquireTime);
    expect([lock.holder, lock.heldSince]).to.deep.equal(['a', acquireTime]);
  });

  it('does not acquire a renewed lease, but one without renewals for its duration', async () => {
    const [a, b] = [lockOf('a'), lockOf('b')];
    await hold(a);
    expect(await hold(b)).to.equal(false);
    await served.clock.advance(DURATION_MS);
    await hold(a);
    expect(await hold(b)).to.equal(false);
    await served.clock.advance(DURATION_MS);
    expect(await hold(b)).to.equal(false);
    expect(b.holder).to.equal('a');
    await served.clock.advance(1);
    expect(await hold(b)).to.equal(true);
    expect(await spec()).to.include({ holderIdentity: 'b', leaseTransitions: 1 });
    expect(await hold(a)).to.equal(false);
  });

  it('acquires an abandoned lease although its labels change repeatedly', async () => {
    const [a, b] = [lockOf('a'), lockOf('b')];
    await hold(a);
    expect(await hold(b)).to.equal(false);
    for (let passedMs = 0; passedMs < DURATION_MS; passedMs += 5_000) {
      await served.clock.advance(5_000);
      const body = { metadata: { labels: { 'synced-at': `${passedMs}` } } };
      const contentType = 'application/merge-patch+json';
      await served.api.requestJson({ method: 'PATCH', path: PATH, body, contentType });
      expect(await hold(b)).to.equal(false);
    }
    await served.clock.advance(1);
    expect(await hold(b)).to.equal(true);
    expect((await served.api.getJson(PATH)) as object)
      .to.have.property('metadata')
      .that.deep.includes({ labels: { 'synced-at': '10000' } });
  });

  it('heeds no wall clock: neither a renewal that seems to be an hour ahead, nor one that seems to be an hour ago', async () => {
    const [a, b] = [lockOf('a'), lockOf('b')];
    for (const stepMs of [3_600_000, -7_200_000]) {
      served.clock.stepWall(stepMs);
      await hold(a);
      expect(await hold(b)).to.equal(false);
      served.clock.stepWall(-stepMs);
      await served.clock.advance(DURATION_MS);
      expect(await hold(b)).to.equal(false);
      await served.clock.advance(1);
      expect(await hold(b)).to.equal(true);
      await b.release();
    }
  });

  it('lets others acquire a released lease at once, and releases no lease of theirs', async () => {
    const [a, b] = [lockOf('a'), lockOf('b')];
    await hold(a);
    await b.release();
    expect(await spec()).to.include({ holderIdentity: 'a' });
    await a.release();
    expect([a.holder, a.heldSince]).to.deep.equal([undefined, undefined]);
    expect(await hold(b)).to.equal(true);
  });

  it('fails if another client writes between its read and its write', async () => {
    const [a, b] = [lockOf('a'), lockOf('b')];
    const both = await Promise.allSettled([hold(a), hold(b)]);
    const refused = both.filter((one) => one.status === 'rejected').map(({ reason }) => reason);
    const retained = both.filter((one) => one.status === 'fulfilled' && one.value);
    expect(retained).to.have.length(1);
    for (const reason of refused) expect(reason).to.be.instanceOf(ApiError).with.property('statusCode', 409);
  });
});
