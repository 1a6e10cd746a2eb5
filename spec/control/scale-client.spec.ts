import { expect } from 'chai';
import { ScaleClient, UnscalableTarget } from '#lib/control/scale-client.ts';
import { ScaleLog } from '#lib/control/scale-log.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { type JsonApi, type JsonResponse, refusal, startJsonApi } from '#spec/support/json-api.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { until } from '#spec/support/until.ts';

const WEB = { namespace: 'default', apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const CAUSE = { by: 'spec a', why: 'it asks for it' };
const PATH = '/apis/apps/v1/namespaces/default/deployments/web/scale';

describe('ScaleClient', () => {
  let stack: AsyncDisposableStack;
  let served: JsonApi;
  let scales: ScaleClient;
  let logger: RecordingLogger;
  /** The stored scale; a write based on another version is rejected. */
  let stored: { uid: string; version: number; replicas: number };
  /** Changes by other clients, each before one of the next writes arrives. */
  let meanwhile: (() => void)[];

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    stored = { uid: 'u1', version: 7, replicas: 2 };
    meanwhile = [];
    served = stack.use(
      await startJsonApi(({ method, url, body }) => {
        const discovery = DISCOVERY[url.pathname];
        if (discovery) return discovery;
        if (url.pathname !== PATH) return refusal(404, 'NotFound');
        if (method === 'PUT') {
          meanwhile.shift()?.();
          const { metadata, spec } = JSON.parse(body);
          if (metadata.resourceVersion !== `${stored.version}`) return refusal(409, 'Conflict');
          stored = { ...stored, version: stored.version + 1, replicas: spec.replicas };
        }
        return {
          kind: 'Scale',
          metadata: { ...WEB, uid: stored.uid, resourceVersion: `${stored.version}` },
          spec: stored.replicas === 0 ? {} : { replicas: stored.replicas },
          status: { replicas: 1, selector: 'app=web' },
        };
      }),
    );
    const { api, clock } = served;
    logger = new RecordingLogger();
    const scaleLog = new ScaleLog({ logger });
    scales = new ScaleClient({ api, clock, mapper: new RestMapper({ api, clock }), scaleLog });
  });

  afterEach(async () => await stack.disposeAsync());

  const writes = () => served.requested.filter((one) => one.startsWith('PUT'));

  it('reads how many replicas there are and are to be', async () => {
    expect(await scales.get(WEB)).to.deep.include({
      target: WEB,
      uid: 'u1',
      resourceVersion: '7',
      specReplicas: 2,
      statusReplicas: 1,
      selector: 'app=web',
    });
    stored = { ...stored, replicas: 0 };
    expect(await scales.get(WEB)).to.have.property('specReplicas', 0);
  });

  it('refuses objects without a namespace, which authors of targets may not be permitted to scale', async () => {
    const pool = await scales.get({ ...WEB, kind: 'NodePool' }).catch((error: unknown) => error);
    expect(pool).to.be.instanceOf(UnscalableTarget).and.include({
      reason: 'NoScaleSubresource',
      message: 'Cannot scale apps/v1 NodePool default/web: nodepools are not in namespaces',
    });
    expect(served.requested.filter((one) => one.includes('nodepools'))).to.deep.equal([]);
  });

  it('sets how many there are to be', async () => {
    const scale = await scales.set(await scales.get(WEB), 5, CAUSE);
    expect(scale).to.include({ specReplicas: 5, resourceVersion: '8' });
    expect(JSON.parse(served.server.requests.at(-1)?.body ?? '')).to.deep.equal({
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { namespace: 'default', name: 'web', uid: 'u1', resourceVersion: '7' },
      spec: { replicas: 5 },
    });
    expect(await scales.set(scale, 0, CAUSE)).to.have.property('specReplicas', 0);
    expect(logger.lines.map(({ message, verbosity }) => [message, verbosity])).to.deep.equal([
      ['Scaled Deployment default/web from 2 to 5 (spec a: it asks for it)', 0],
      ['Scaled Deployment default/web from 5 to 0 (spec a: it asks for it)', 0],
    ]);
  });

  it('finds a target with a removed group version in the one that is served now', async () => {
    const scale = await scales.get({ ...WEB, apiVersion: 'extensions/v1beta1' });
    expect(scale.resource).to.include({ group: 'apps', version: 'v1' });
    expect(await scales.set(scale, 3, CAUSE)).to.have.property('specReplicas', 3);
  });

  it('tries again when the target changed, but not how many there are to be', async () => {
    const scale = await scales.get(WEB);
    meanwhile = [() => stored.version++, () => stored.version++];
    const setting = scales.set(scale, 5, CAUSE);
    await until(served.clock, () => writes().length === 1 && served.clock.sleeperCount === 1);
    await served.clock.advance(20);
    await until(served.clock, () => writes().length === 2 && served.clock.sleeperCount === 1);
    await served.clock.advance(20);
    expect(await setting).to.include({ specReplicas: 5, resourceVersion: '10' });
  });

  for (const [what, change] of [
    ['somebody else has scaled the target', { version: 8, replicas: 9 }],
    ['the target is another one of that name', { version: 8, uid: 'u2' }],
  ] as const) {
    it(`throws the conflict, and writes nothing, when ${what}`, async () => {
      const scale = await scales.get(WEB);
      meanwhile = [() => Object.assign(stored, change)];
      const setting = scales.set(scale, 5, CAUSE).catch((error: unknown) => error);
      await until(served.clock, () => writes().length === 1 && served.clock.sleeperCount === 1);
      await served.clock.advance(20);
      expect(await setting)
        .to.be.instanceOf(ApiError)
        .and.include({ statusCode: 409, reason: 'Conflict' });
      expect(writes()).to.have.length(1);
      expect(stored).to.deep.include(change);
    });
  }

  it('distinguishes a target that cannot be scaled from a missing one', async () => {
    const widget = await scales
      .get({ ...WEB, apiVersion: 'example.com/v1', kind: 'Widget' })
      .catch((e: unknown) => e);
    expect(widget).to.be.instanceOf(UnscalableTarget).and.include({
      reason: 'UnknownKind',
      message: 'Cannot scale example.com/v1 Widget default/web: the API server does not serve its kind',
    });
    const daemonSet = await scales.get({ ...WEB, kind: 'DaemonSet' }).catch((e: unknown) => e);
    expect(daemonSet).to.be.instanceOf(UnscalableTarget).and.include({
      reason: 'NoScaleSubresource',
      message: 'Cannot scale apps/v1 DaemonSet default/web: daemonsets have no scale subresource',
    });
    const missing = await scales.get({ ...WEB, name: 'none' }).catch((e: unknown) => e);
    expect(missing).to.be.instanceOf(ApiError).and.have.property('statusCode', 404);
  });

  it('refuses a scale that makes no sense', async () => {
    stored = { ...stored, replicas: -1 };
    expect(await scales.get(WEB).catch(describeError)).to.match(
      /^Cannot read scale of apps\/v1 Deployment default\/web/,
    );
  });
});

const DISCOVERY: Readonly<Record<string, JsonResponse>> = {
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/apis': { kind: 'APIGroupList', groups: [{ name: 'apps', versions: [{ version: 'v1' }] }] },
  '/apis/apps/v1': {
    kind: 'APIResourceList',
    resources: [
      { name: 'deployments', kind: 'Deployment', namespaced: true },
      { name: 'deployments/scale', kind: 'Scale', namespaced: true },
      { name: 'nodepools', kind: 'NodePool', namespaced: false },
      { name: 'nodepools/scale', kind: 'Scale', namespaced: false },
      { name: 'daemonsets', kind: 'DaemonSet', namespaced: true },
      { name: 'daemonsets/status', kind: 'DaemonSet', namespaced: true },
    ],
  },
};
