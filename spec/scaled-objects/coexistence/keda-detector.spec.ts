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
const REPORTED = 'Another operator manages ScaledObjects and ScaledJobs; leaving them alone';
const SOME = 'Another operator manages some ScaledObjects or ScaledJobs; leaving these alone';
const SOME_OVER = 'Managing all ScaledObjects and ScaledJobs again';
const OVER = 'No other operator manages ScaledObjects and ScaledJobs any longer; managing them';
const LOGGED_LINES = [REPORTED, OVER, SOME, SOME_OVER];
/** Exceeds every deadline: sockets need real time, while the manual clock can pass any deadline. */
const NEVER_MS = 1e12;

describe('KedaDetector', () => {
  it('runs at once without another operator', async () => {
    await using cluster = await start();
    await cluster.until(() => cluster.isActing);
    expect(cluster.operator.evidence).to.equal(undefined);
    expect(cluster.reported()).to.deep.equal([]);
  });

  it('does not scale while the lease of KEDA is held, reports that once, and scales when it has ended', async () => {
    await using cluster = await start();
    await cluster.until(() => cluster.isActing);
    await cluster.holdLease();
    await cluster.passes(5);
    await cluster.until(() => !cluster.isActing);
    expect(cluster.operator.evidence).to.equal(HELD);
    for (let renewal = 0; renewal < 4; renewal++) {
      await cluster.renewLease();
      await cluster.passes(10);
      expect(cluster.isActing).to.equal(false);
    }
    const event = `web AnotherControllerActs Another operator manages this object (${HELD}); the autoscaler does not scale it until the other operator stops. Run only one of the two`;
    expect(cluster.events).to.deep.equal([event, event]); // of both objects
    expect(cluster.reported()).to.deep.equal([REPORTED]);
    await cluster.passes(66); // detected at the next check, after a minute without renewal
    await cluster.until(() => cluster.isActing);
    expect(cluster.operator.evidence).to.equal(undefined);
    expect(cluster.reported()).to.deep.equal([REPORTED, OVER]);
  });

  it('does not run while the lease is held', async () => {
    await using cluster = await start({ isHeld: true });
    await cluster.until(() => cluster.operator.evidence === HELD);
    expect(cluster.beginnings).to.equal(0);
  });

  it('does not scale objects of a namespace while another manager writes a status there, and reports that once', async () => {
    await using cluster = await start();
    await cluster.until(() => cluster.isActing);
    expect(cluster.leaves('web')).to.equal(false);
    await cluster.writeStatus('keda');
    await cluster.passes(6);
    const evidence = '"keda" writes the status of ScaledObject default/web';
    for (let check = 0; check < 3; check++)
      expect([cluster.leaves('web'), cluster.leaves('web', 'elsewhere')]).to.deep.equal([true, false]);
    expect(
      cluster.operator.evidenceFor('ScaledObject', { metadata: { name: 'x', namespace: 'default' } }),
    ).to.equal(evidence);
    expect([cluster.isActing, cluster.operator.evidence]).to.deep.equal([true, undefined]);
    expect(cluster.events).to.deep.equal([
      `web AnotherControllerActs Another operator manages this object (${evidence}); the autoscaler does not scale it until the other operator stops. Run only one of the two`,
    ]);
    await cluster.passes(80);
    expect(cluster.leaves('web')).to.equal(true);
    await cluster.passes(15);
    expect(cluster.leaves('web')).to.equal(false);
    expect(cluster.reported()).to.deep.equal([SOME, SOME_OVER]);
  });

  it('scales objects of other namespaces, in however many another manager writes statuses', async () => {
    await using cluster = await start();
    await cluster.until(() => cluster.isActing);
    for (const namespace of ['default', 'elsewhere']) await cluster.writeStatus('keda', namespace);
    await cluster.passes(6);
    expect([cluster.leaves('web'), cluster.leaves('web', 'elsewhere')]).to.deep.equal([true, true]);
    expect(cluster.leaves('web', 'third')).to.equal(false);
    expect([cluster.isActing, cluster.beginnings, cluster.operator.evidence]).to.deep.equal([
      true,
      1,
      undefined,
    ]);
    expect(cluster.reported()).to.deep.equal([SOME]);
  });

  it("ignores KEDA's writes from before its lease ended, but not later ones", async () => {
    await using cluster = await start({ isHeld: true });
    await cluster.until(() => cluster.operator.evidence === HELD);
    await cluster.writeStatus('keda');
    expect(cluster.leaves('web')).to.equal(true);
    await cluster.passes(66);
    await cluster.until(() => cluster.isActing);
    expect(cluster.leaves('web')).to.equal(false);
    await cluster.writeStatus('keda');
    expect(cluster.leaves('web')).to.equal(true);
  });

  it('detects KEDA by its writes if it may not read the lease, and logs that once', async () => {
    await using cluster = await start();
    cluster.refuse(403);
    await cluster.passes(15);
    await cluster.until(() => cluster.isActing);
    const lines = cluster.logger.lines.filter(({ message }) =>
      /No permission to read the lease/.test(message),
    );
    expect(lines).to.have.lengthOf(1);
    await cluster.writeStatus('keda');
    expect(cluster.leaves('web')).to.equal(true);
  });

  it('changes nothing while the API server does not respond', async () => {
    await using cluster = await start();
    await cluster.until(() => cluster.isActing);
    cluster.refuse(500);
    await cluster.passes(30);
    expect(cluster.isActing).to.equal(true);
    expect(cluster.beginnings).to.equal(1);
    await using waiting = await start({ isHeld: true });
    await waiting.until(() => waiting.operator.evidence === HELD);
    waiting.refuse(500);
    await waiting.passes(60);
    expect(waiting.beginnings).to.equal(0);
  });

  it('does not start again before the previous term has ended, however long that takes', async () => {
    await using cluster = await start();
    await cluster.until(() => cluster.isActing);
    const mayEnd = cluster.holdEnd();
    await cluster.holdLease();
    await cluster.passes(5);
    await cluster.until(() => cluster.operator.evidence === HELD);
    await cluster.passes(80); // the lease has expired by then
    expect([cluster.isActing, cluster.beginnings]).to.deep.equal([true, 1]);
    mayEnd();
    await cluster.passes(6);
    await cluster.until(() => cluster.beginnings === 2);
  });

  it('reads no lease if no namespace is configured', async () => {
    await using cluster = await start({ isHeld: true, kedaNamespace: '' });
    await cluster.until(() => cluster.isActing);
  });

  it('ends with what acts, and fails as it fails', async () => {
    await using cluster = await start();
    await cluster.until(() => cluster.isActing);
    cluster.fail(new Error('it cannot act'));
    expect(await cluster.ended.catch(({ message }: Error) => message)).to.equal('it cannot act');
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
    let acts: ObservedPromise | undefined;
    const ended = operator.runWhileSoleOperator(ending.signal, (signal) => {
      acts = new ObservedPromise((resolve) => signal.addEventListener('abort', () => resolve()));
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
class ObservedPromise extends Promise<void> {
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
  const watched = declareInformers({ informers, namespaces: [], logger, clock });
  watched.start(new AbortController().signal).catch(() => {}); // the spec has ended
  const events: string[] = [];
  const operator = new KedaDetector({
    ...{ client, clock, logger, kedaNamespace, kedaLeaseEverywhere: false },
    events: {
      record: ({ regarding: { name }, reason, message }) => void events.push(`${name} ${reason} ${message}`),
    },
    kinds: { ScaledObject: watched.objects, ScaledJob: watched.scaledJobs },
    hpas: { onChange: () => () => {}, synced: async () => {} },
  });
  const ending = new AbortController();
  let [isActing, beginnings, writes] = [false, 0, 0];
  const failing = Promise.withResolvers<never>();
  failing.promise.catch(() => {});
  let retained: PromiseWithResolvers<void> | undefined;
  const ended = operator.runWhileSoleOperator(ending.signal, async (signal) => {
    [isActing, beginnings] = [true, beginnings + 1];
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    await Promise.race([stopped, failing.promise]);
    await retained?.promise;
    isActing = false;
  });
  ended.catch(() => {});
  starting.defer(async () => {
    ending.abort();
    retained?.resolve();
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
      retained = Promise.withResolvers<void>();
      return retained.resolve;
    },
    reported: () => logger.lines.map(({ message }) => message).filter((one) => LOGGED_LINES.includes(one)),
    leaves: (name: string, namespace = 'default') =>
      operator.isManagedByKeda('ScaledObject', { metadata: { name, namespace } }),
    until: async (condition: () => boolean) => await eventually(condition),
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
      const version = () => watched.objects.find(`${namespace}/web`)?.metadata.resourceVersion;
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
