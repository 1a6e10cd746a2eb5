import { expect } from 'chai';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import { declareInformers } from '#lib/scaled-objects/api/informers.ts';
import { KedaDetector, type WatchedKind } from '#lib/scaled-objects/coexistence/keda-detector.ts';
import { forRequests, refuseRequests } from '#simulator/api-server/faults.ts';
import { readDefinition } from '#spec/support/definition-file.ts';
import { eventually } from '#spec/support/eventually.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const CRDS = ['scaled-object', 'scaled-job', 'trigger-authentication', 'cluster-trigger-authentication'];
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/keda/leases';
const HELD = 'the lease keda/operator.keda.sh is held by "keda-operator-1"';
const TOLD = 'Another operator manages ScaledObjects and ScaledJobs; leaving them alone';
const SOME = 'Another operator manages some ScaledObjects or ScaledJobs; leaving these alone';
const SOME_OVER = 'Managing all ScaledObjects and ScaledJobs again';
const OVER = 'No other operator manages ScaledObjects and ScaledJobs any longer; managing them';
const TELLING = [TOLD, OVER, SOME, SOME_OVER];
/** Exceeds every deadline: sockets need real time, while the manual clock can pass any deadline. */
const NEVER_MS = 1e12;

describe('KedaDetector', () => {
  it('runs at once without another operator', async () => {
    await using world = await start();
    await world.until(() => world.isActing);
    expect(world.operator.evidence).to.equal(undefined);
    expect(world.told()).to.deep.equal([]);
  });

  it('does not scale while the lease of KEDA is held, reports that once, and scales when it has ended', async () => {
    await using world = await start();
    await world.until(() => world.isActing);
    await world.holdLease();
    await world.passes(5);
    await world.until(() => !world.isActing);
    expect(world.operator.evidence).to.equal(HELD);
    for (let renewal = 0; renewal < 4; renewal++) {
      await world.renewLease();
      await world.passes(10);
      expect(world.isActing).to.equal(false);
    }
    const event = `web AnotherControllerActs Another operator manages this object (${HELD}); the autoscaler does not scale it until the other operator stops. Run only one of the two`;
    expect(world.events).to.deep.equal([event, event]); // of both objects
    expect(world.told()).to.deep.equal([TOLD]);
    await world.passes(66); // detected at the next check, after a minute without renewal
    await world.until(() => world.isActing);
    expect(world.operator.evidence).to.equal(undefined);
    expect(world.told()).to.deep.equal([TOLD, OVER]);
  });

  it('does not run while the lease is held', async () => {
    await using world = await start({ isHeld: true });
    await world.until(() => world.operator.evidence === HELD);
    expect(world.beginnings).to.equal(0);
  });

  it('does not scale objects of a namespace while another manager writes a status there, and reports that once', async () => {
    await using world = await start();
    await world.until(() => world.isActing);
    expect(world.leaves('web')).to.equal(false);
    await world.writeStatus('keda');
    await world.passes(6);
    const evidence = '"keda" writes the status of ScaledObject default/web';
    for (let look = 0; look < 3; look++)
      expect([world.leaves('web'), world.leaves('web', 'elsewhere')]).to.deep.equal([true, false]);
    expect(
      world.operator.evidenceFor('ScaledObject', { metadata: { name: 'x', namespace: 'default' } }),
    ).to.equal(evidence);
    expect([world.isActing, world.operator.evidence]).to.deep.equal([true, undefined]);
    expect(world.events).to.deep.equal([
      `web AnotherControllerActs Another operator manages this object (${evidence}); the autoscaler does not scale it until the other operator stops. Run only one of the two`,
    ]);
    await world.passes(80);
    expect(world.leaves('web')).to.equal(true);
    await world.passes(15);
    expect(world.leaves('web')).to.equal(false);
    expect(world.told()).to.deep.equal([SOME, SOME_OVER]);
  });

  it('scales no object while another manager writes statuses in two namespaces', async () => {
    await using world = await start();
    await world.until(() => world.isActing);
    await world.writeStatus('keda');
    await world.writeStatus('keda', 'elsewhere');
    await world.passes(5);
    await world.until(() => !world.isActing);
    expect(world.operator.evidence).to.match(/^"keda" writes the status of ScaledObject /);
    await world.passes(80);
    expect(world.isActing).to.equal(false);
    await world.passes(15);
    await world.until(() => world.isActing);
    expect(world.told()).to.deep.equal([TOLD, OVER]);
  });

  it("ignores KEDA's writes from before its lease ended, but not later ones", async () => {
    await using world = await start({ isHeld: true });
    await world.until(() => world.operator.evidence === HELD);
    await world.writeStatus('keda');
    expect(world.leaves('web')).to.equal(true);
    await world.passes(66);
    await world.until(() => world.isActing);
    expect(world.leaves('web')).to.equal(false);
    await world.writeStatus('keda');
    expect(world.leaves('web')).to.equal(true);
  });

  it('detects KEDA by its writes if it may not read the lease, and logs that once', async () => {
    await using world = await start();
    world.refuse(403);
    await world.passes(15);
    await world.until(() => world.isActing);
    const lines = world.logger.lines.filter(({ message }) => /No permission to read the lease/.test(message));
    expect(lines).to.have.lengthOf(1);
    await world.writeStatus('keda');
    expect(world.leaves('web')).to.equal(true);
  });

  it('changes nothing while the API server does not respond', async () => {
    await using world = await start();
    await world.until(() => world.isActing);
    world.refuse(500);
    await world.passes(30);
    expect(world.isActing).to.equal(true);
    expect(world.beginnings).to.equal(1);
    await using waiting = await start({ isHeld: true });
    await waiting.until(() => waiting.operator.evidence === HELD);
    waiting.refuse(500);
    await waiting.passes(60);
    expect(waiting.beginnings).to.equal(0);
  });

  it('does not start again before the previous term has ended, however long that takes', async () => {
    await using world = await start();
    await world.until(() => world.isActing);
    const mayEnd = world.holdEnd();
    await world.holdLease();
    await world.passes(5);
    await world.until(() => world.operator.evidence === HELD);
    await world.passes(80); // the lease has expired by then
    expect([world.isActing, world.beginnings]).to.deep.equal([true, 1]);
    mayEnd();
    await world.passes(6);
    await world.until(() => world.beginnings === 2);
  });

  it('reads no lease if no namespace is configured', async () => {
    await using world = await start({ isHeld: true, kedaNamespace: '' });
    await world.until(() => world.isActing);
  });

  it('ends with what acts, and fails as it fails', async () => {
    await using world = await start();
    await world.until(() => world.isActing);
    world.fail(new Error('it cannot act'));
    expect(await world.ended.catch(({ message }: Error) => message)).to.equal('it cannot act');
  });

  it('attaches no handler to the run at each poll, because it lasts for months', async () => {
    const clock = new CountingClock();
    const none: WatchedKind = { onChange: () => () => {}, synced: async () => {}, values: () => [] };
    await using server = await startSimulatedApiServer();
    await using client = new ApiClient({ access: await server.access(), clock, userAgent: 'spec/1' });
    const operator = new KedaDetector({
      ...{ client, clock, logger: new RecordingLogger(), kedaNamespace: '', kedaLeaseEverywhere: false },
      ...{ events: { record: () => {} }, kinds: { ScaledObject: none }, hpas: none },
    });
    const ending = new AbortController();
    let acts: FollowedPromise | undefined;
    const ended = operator.runWhileSoleOperator(ending.signal, (signal) => {
      acts = new FollowedPromise((resolve) => signal.addEventListener('abort', () => resolve()));
      return acts;
    });
    await clock.advance(5000);
    const followers = acts?.followers;
    await clock.advance(500_000);
    expect(clock.sleeps).to.equal(102);
    expect(acts?.followers).to.equal(followers).and.to.be.within(1, 2);
    ending.abort();
    await ended;
  });
});

class CountingClock extends ManualClock {
  sleeps = 0;

  override sleep(...its: Parameters<ManualClock['sleep']>): Promise<void> {
    this.sleeps++;
    return super.sleep(...its);
  }
}

/** Counts its waiters. */
class FollowedPromise extends Promise<void> {
  followers = 0;

  static override get [Symbol.species]() {
    return Promise;
  }

  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  override then: Promise<void>['then'] = (...reactions) => {
    this.followers++;
    return super.then(...reactions);
  };
}

async function start(options: { readonly isHeld?: boolean; readonly kedaNamespace?: string } = {}) {
  const { isHeld = false, kedaNamespace = 'keda' } = options;
  await using starting = new AsyncDisposableStack();
  const definitions = CRDS.map((name) => readDefinition(`keda/${name}`));
  const server = starting.use(await startSimulatedApiServer({ definitions }));
  const { clock, client: api } = server;
  const logger = new RecordingLogger();
  const client = starting.use(
    new ApiClient({ access: await server.access(), clock, userAgent: 'spec/1', requestTimeoutMs: NEVER_MS }),
  );
  await api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'keda' } });
  const metadata = { name: 'elsewhere' };
  await api.post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata });
  for (const namespace of ['default', 'elsewhere'])
    await api.post(objectsOf(namespace), {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name: 'web' } },
      spec: { scaleTargetRef: { name: 'web' }, triggers: [{ type: 'cron', metadata: {} }] },
    });
  const holdLease = async () => {
    await api.post(LEASES, {
      ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'operator.keda.sh' } },
      spec: {
        holderIdentity: 'keda-operator-1',
        leaseDurationSeconds: 15,
        renewTime: timeText(clock.nowMs()),
      },
    });
  };
  if (isHeld) await holdLease();
  const informers = starting.use(
    new SharedInformers({ client, mapper: new RestMapper({ api: client, clock }), clock, logger }),
  );
  const followed = declareInformers({ informers, namespaces: [], logger, clock });
  followed.start(new AbortController().signal).catch(() => {}); // the spec has ended
  const events: string[] = [];
  const operator = new KedaDetector({
    ...{ client, clock, logger, kedaNamespace, kedaLeaseEverywhere: false },
    events: {
      record: ({ regarding: { name }, reason, message }) => void events.push(`${name} ${reason} ${message}`),
    },
    kinds: { ScaledObject: followed.objects, ScaledJob: followed.scaledJobs },
    hpas: { onChange: () => () => {}, synced: async () => {} },
  });
  const ending = new AbortController();
  let [isActing, beginnings, writes] = [false, 0, 0];
  const failing = Promise.withResolvers<never>();
  failing.promise.catch(() => {});
  let held: PromiseWithResolvers<void> | undefined;
  const ended = operator.runWhileSoleOperator(ending.signal, async (signal) => {
    [isActing, beginnings] = [true, beginnings + 1];
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    await Promise.race([stopped, failing.promise]);
    await held?.promise;
    isActing = false;
  });
  ended.catch(() => {});
  starting.defer(async () => {
    ending.abort();
    held?.resolve();
    await ended.catch(() => {});
  });
  const stack = starting.move();
  return {
    ...{ operator, events, logger, ended, holdLease, fail: failing.reject },
    get isActing() {
      return isActing;
    },
    get beginnings() {
      return beginnings;
    },
    /** Makes a subsystem continue after its abort. @returns ends it */
    holdEnd() {
      held = Promise.withResolvers<void>();
      return held.resolve;
    },
    told: () => logger.lines.map(({ message }) => message).filter((one) => TELLING.includes(one)),
    leaves: (name: string, namespace = 'default') =>
      operator.isManagedByKeda('ScaledObject', { metadata: { name, namespace } }),
    until: async (holds: () => boolean) => await eventually(holds),
    /** Advances the clock by seconds and runs all that is due in each. */
    async passes(seconds: number) {
      for (let second = 0; second < seconds; second++) {
        await clock.advance(1000);
        await client.getJson('/version'); // earlier requests have completed
      }
    },
    async renewLease() {
      const renewTime = timeText(clock.nowMs());
      await api.patch(`${LEASES}/operator.keda.sh`, 'merge', { spec: { renewTime } });
    },
    async writeStatus(manager: string, namespace = 'default') {
      const path = `${objectsOf(namespace)}/web/status?fieldManager=${manager}`;
      const body = { status: { lastActiveTime: new Date(clock.nowMs() + ++writes * 1000).toISOString() } };
      const version = () => followed.objects.find(`${namespace}/web`)?.metadata.resourceVersion;
      const before = version();
      const response = await api.patch(path, 'merge', body);
      expect(response.status, JSON.stringify(response.body)).to.equal(200);
      await eventually(() => version() !== before);
    },
    refuse: (code: number) =>
      server.cluster.apiServer.setFaults(
        forRequests({ resource: 'leases' }, refuseRequests({ code, reason: 'Refused' })),
      ),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function objectsOf(namespace: string): string {
  return `/apis/keda.sh/v1alpha1/namespaces/${namespace}/scaledobjects`;
}

function timeText(atMs: number): string {
  return new Date(atMs).toISOString().replace('Z', '000Z');
}
