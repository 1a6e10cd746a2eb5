import { expect } from 'chai';
import { type Scale, ScaleClient, type ScaleTarget, UnscalableTarget } from '#lib/control/scale-client.ts';
import { readTargetScale, TargetScales, writeTargetScale } from '#lib/hpa/inputs/target-scales.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import { type ApiFault, dropEvents, forRequests, refuseRequests } from '#simulator/api-server/faults.ts';
import { webHpa } from '#spec/hpa/min-replicas/built-decision.ts';
import { elapseUntil } from '#spec/support/elapse-until.ts';
import { eventually } from '#spec/support/eventually.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const WEB: ScaleTarget = { namespace: 'default', apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const { signal } = new AbortController();

const CAUSE = { by: 'hpa web', why: 'external metric queue above target' };

describe('TargetScales', () => {
  let stack: AsyncDisposableStack;
  let server: SimulatedApiServer;
  let scales: TargetScales;
  /** Number of reads of scale subresources. */
  let reads: number;

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    server = stack.use(await startSimulatedApiServer());
    reads = 0;
    await create('deployments', 'Deployment', { matchLabels: { tier: 'b', app: 'web' } });
    const { clock } = server;
    const client = stack.use(new ApiClient({ access: await server.access(), clock, userAgent: 'spec/1' }));
    const mapper = new RestMapper({ api: client, clock });
    const logger = new RecordingLogger();
    const informers = stack.use(new SharedInformers({ client, mapper, clock, logger }));
    scales = new TargetScales({
      informers,
      mapper,
      clock,
      scales: new ScaleClient({ api: client, mapper, clock }),
    });
    withFaults();
  });

  afterEach(() => stack.disposeAsync());

  it('returns the same as the scale subresource, without a request', async () => {
    await create('statefulsets', 'StatefulSet', {
      matchExpressions: [
        { key: 'app', operator: 'In', values: ['b', 'a'] },
        { key: 'tier', operator: 'Exists' },
      ],
    });
    await create('replicasets', 'ReplicaSet', { matchLabels: { app: 'web' } });
    for (const kind of ['Deployment', 'StatefulSet', 'ReplicaSet']) {
      const target = { ...WEB, kind };
      const { scale, isCached } = await scales.get(target, { signal });
      expect(isCached, kind).to.equal(true);
      expect(scale, kind).to.deep.equal((await scales.get(target, { signal, isFresh: true })).scale);
    }
    expect(reads).to.equal(3);
  });

  it('returns changes, and its own writes at once', async () => {
    const { scale } = await scales.get(WEB, { signal });
    await scales.set(scale, 5, CAUSE, signal);
    expect((await scales.get(WEB, { signal })).scale.specReplicas).to.equal(5);
    await setReplicas(7);
    await eventually(async () => {
      const { scale: observed, isCached } = await scales.get(WEB, { signal });
      return isCached && observed.specReplicas === 7;
    });
  });

  it('evicts its own writes once the informer has them', async () => {
    await scales.set((await scales.get(WEB, { signal })).scale, 5, CAUSE, signal);
    await eventually(() => scales.aheadCount === 0);
  });

  it('evicts versions of deleted objects', async () => {
    withFaults(forRequests({ verb: 'watch', resource: 'deployments' }, dropEvents));
    await scales.get(WEB, { signal });
    await setReplicas(6);
    await scales.get(WEB, { signal, isFresh: true });
    expect(scales.aheadCount).to.equal(1);
    withFaults();
    await server.client.delete('/apis/apps/v1/namespaces/default/deployments/web');
    await elapseUntil(server.clock, 10_000, () => scales.aheadCount === 0);
  });

  it('requests scales while the informer lags behind, and does not write cached ones', async () => {
    withFaults(forRequests({ verb: 'watch', resource: 'deployments' }, dropEvents));
    const { scale } = await scales.get(WEB, { signal });
    await setReplicas(0); // disabled by a user, before the watch event
    const failure = await passing(
      scales.set(scale, 4, CAUSE, signal).then(
        () => 'it was written',
        (error: Error) => error.message,
      ),
    );
    expect(failure).to.include('the object has been modified');
    expect(await replicas()).to.equal(0);
    const fresh = await scales.get(WEB, { signal, isFresh: true });
    expect(fresh.scale.specReplicas).to.equal(0);
    const again = await scales.get(WEB, { signal });
    expect(again.isCached).to.equal(false);
    expect(again.scale.specReplicas).to.equal(0);
  });

  it('requests each scale without permission to list', async () => {
    withFaults(
      forRequests(
        { verb: 'list', resource: 'deployments' },
        refuseRequests({ code: 403, reason: 'Forbidden' }),
      ),
    );
    expect((await passing(scales.get(WEB, { signal }))).isCached).to.equal(false);
    expect((await scales.get(WEB, { signal })).scale.specReplicas).to.equal(2);
    expect(reads).to.equal(2);
  });

  it('requests uncached objects', async () => {
    const missing = await scales
      .get({ ...WEB, name: 'none' }, { signal })
      .catch((error: Error) => error.message);
    expect(missing).to.include('"none" not found');
    expect(reads).to.equal(1);
  });

  /** Awaits a promise while the clock advances. */
  async function passing<T>(promise: Promise<T>): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    promise.then(over, over);
    await elapseUntil(server.clock, 500, () => isOver);
    return await promise;
  }

  function withFaults(...faults: readonly ApiFault[]): void {
    const count: ApiFault = {
      async serve({ verb, target }, { next }) {
        if (verb === 'get' && target.isResource && target.subresource === 'scale') reads++;
        await next();
      },
    };
    server.cluster.apiServer.setFaults(count, ...faults);
  }

  async function create(plural: string, kind: string, selector: object): Promise<void> {
    const template = {
      metadata: { labels: { app: 'web', tier: 'b' } },
      spec: { containers: [{ name: 'main', image: 'nginx' }] },
    };
    if (kind === 'StatefulSet') template.metadata.labels.app = 'a';
    const spec = { replicas: 2, selector, template, ...(kind === 'StatefulSet' && { serviceName: 'web' }) };
    const path = `/apis/apps/v1/namespaces/default/${plural}`;
    const body = { apiVersion: 'apps/v1', kind, metadata: { name: 'web' }, spec };
    const response = await server.client.post(path, body);
    expect(response.status, JSON.stringify(response.body)).to.equal(201);
  }

  async function setReplicas(count: number): Promise<void> {
    const path = '/apis/apps/v1/namespaces/default/deployments/web';
    expect((await server.client.patch(path, 'merge', { spec: { replicas: count } })).status).to.equal(200);
  }

  async function replicas(): Promise<number> {
    return (await server.client.get('/apis/apps/v1/namespaces/default/deployments/web')).body.spec.replicas;
  }
});

const web = webHpa({ minReplicas: 1 });
const FORBIDDEN = new ApiError('Cannot do that', {
  ...{ statusCode: 503, reason: 'ServiceUnavailable', retryAfterMs: undefined },
});

describe('readTargetScale', () => {
  const read = (apiVersion: string, error: Error, ofSignal = signal) => {
    const scaleTargetRef = { apiVersion, kind: 'Till', name: 'web' };
    const scales = { get: () => Promise.reject(error) };
    return readTargetScale({ ...web, spec: { ...web.spec, scaleTargetRef } }, scales, {
      signal: ofSignal,
      isFresh: false,
    } as never);
  };

  it('returns failures with the messages of Kubernetes, by step', async () => {
    const unknown = new UnscalableTarget('the API server does not serve its kind', 'UnknownKind');
    const unscalable = new UnscalableTarget('tills have no scale subresource', 'NoScaleSubresource');
    expect(await read('shop/v1/x', unknown)).to.deep.equal({
      step: 'api-version',
      message: 'unexpected GroupVersion string: shop/v1/x',
    });
    expect(await read('shop/v1', unknown)).to.deep.equal({
      step: 'kind',
      message: 'no matches for kind "Till" in group "shop"',
    });
    expect(await read('v1', unknown)).to.deep.equal({
      step: 'kind',
      message: 'no matches for kind "Till" in group ""',
    });
    expect(await read('shop/v1', unscalable)).to.deep.equal({
      step: 'scale',
      message: 'the server could not find the requested resource',
    });
    expect(await read('shop/v1', FORBIDDEN)).to.deep.equal({
      step: 'scale',
      message: 'the server is currently unable to handle the request (get scale)',
    });
  });

  it('throws at the end of its term', async () => {
    const ended = AbortSignal.abort(new Error('not the leader any more'));
    const failure = await read('shop/v1', FORBIDDEN, ended).catch((error: unknown) => error);
    expect(failure).to.have.property('message', 'not the leader any more');
  });
});

describe('writeTargetScale', () => {
  it('returns the error, or undefined on success', async () => {
    const write = (set: () => Promise<void>, ofSignal = signal) =>
      writeTargetScale({} as Scale, 3, {
        ...{ scales: { set } as never, signal: ofSignal },
        cause: { by: 'hpa web', why: 'external metric queue above target' },
      });
    expect(await write(async () => {})).to.equal(undefined);
    expect(await write(() => Promise.reject(FORBIDDEN))).to.match(/unable to handle the request/);
    const ended = AbortSignal.abort(new Error('not the leader any more'));
    const failure = await write(() => Promise.reject(FORBIDDEN), ended).catch((error: unknown) => error);
    expect(failure).to.have.property('message', 'not the leader any more');
  });
});
