import { expect } from 'chai';
import { runForTenant } from '#lib/concurrency/tenant.ts';
import { TokenBucket } from '#lib/concurrency/token-bucket.ts';
import type { ApiClientOptions } from '#lib/kubernetes/client/api-client.ts';
import { ApiError, isConflict } from '#lib/kubernetes/client/api-error.ts';
import { ResourceClient, retryOnConflict } from '#lib/kubernetes/client/resource-client.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { type JsonApi, type JsonResponse, refusal, startJsonApi } from '#spec/support/json-api.ts';
import type { ReceivedRequest } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { until } from '#spec/support/until.ts';

const DEPLOYMENTS = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};
const WEB = { namespace: 'default', name: 'web' };

describe('ResourceClient', () => {
  let stack: AsyncDisposableStack;
  let served: JsonApi;
  let client: ResourceClient;

  beforeEach(() => {
    stack = new AsyncDisposableStack();
  });

  afterEach(async () => {
    await stack.disposeAsync();
    expect(served.clock.sleeperCount).to.equal(0);
  });

  async function serve(
    respond: (request: ReceivedRequest) => JsonResponse | undefined = () => ({ metadata: WEB }),
    options: (clock: ManualClock) => Partial<ApiClientOptions> = () => ({}),
  ): Promise<void> {
    served = stack.use(await startJsonApi(respond, options));
    client = new ResourceClient({ api: served.api, resource: DEPLOYMENTS });
  }

  it('gets an object, or a subresource of it', async () => {
    await serve();
    expect(await client.get(WEB)).to.deep.equal({ metadata: WEB });
    await client.get(WEB, { subresource: 'status' });
    expect(served.requested).to.deep.equal([
      'GET /apis/apps/v1/namespaces/default/deployments/web',
      'GET /apis/apps/v1/namespaces/default/deployments/web/status',
    ]);
  });

  it('finds nothing where there is nothing, and throws every other refusal', async () => {
    let response = refusal(404, 'NotFound');
    await serve(() => response);
    expect(await client.find(WEB)).to.equal(undefined);
    response = refusal(403, 'Forbidden');
    expect(await client.find(WEB).catch(describeError)).to.equal(
      'Cannot get /apis/apps/v1/namespaces/default/deployments/web: it is Forbidden (status 403)',
    );
  });

  it('lists page by page, in all namespaces or one', async () => {
    await serve(({ url }) =>
      url.searchParams.has('continue')
        ? { metadata: { resourceVersion: '5' }, items: [{ metadata: { name: 'b' } }] }
        : { metadata: { resourceVersion: '5', continue: 'more' }, items: [{ metadata: { name: 'a' } }] },
    );
    const objects = await client.list({ namespace: 'default', labelSelector: 'app=web' });
    expect(objects.map(({ metadata }) => metadata.name)).to.deep.equal(['a', 'b']);
    await client.list();
    expect(served.requested).to.deep.equal([
      'GET /apis/apps/v1/namespaces/default/deployments?labelSelector=app%3Dweb&limit=500',
      'GET /apis/apps/v1/namespaces/default/deployments?labelSelector=app%3Dweb&limit=500&continue=more',
      'GET /apis/apps/v1/deployments?limit=500',
      'GET /apis/apps/v1/deployments?limit=500&continue=more',
    ]);
  });

  it('creates, replaces and deletes objects, with their version and kind', async () => {
    await serve();
    await client.create({ metadata: { ...WEB, generateName: 'w' } }, { fieldManager: 'spec' });
    await client.update(
      { metadata: { ...WEB, resourceVersion: '7' } },
      { subresource: 'status', dryRun: true },
    );
    const preconditions = { uid: 'u', resourceVersion: '7' };
    await client.delete(WEB, { preconditions, propagationPolicy: 'Foreground' });
    const typed = { apiVersion: 'apps/v1', kind: 'Deployment' };
    expect(served.requested).to.deep.equal([
      'POST /apis/apps/v1/namespaces/default/deployments?fieldManager=spec',
      'PUT /apis/apps/v1/namespaces/default/deployments/web/status?dryRun=All',
      'DELETE /apis/apps/v1/namespaces/default/deployments/web',
    ]);
    expect(served.server.requests.map(({ body }) => JSON.parse(body))).to.deep.equal([
      { ...typed, metadata: { ...WEB, generateName: 'w' } },
      { ...typed, metadata: { ...WEB, resourceVersion: '7' } },
      { apiVersion: 'v1', kind: 'DeleteOptions', preconditions, propagationPolicy: 'Foreground' },
    ]);
  });

  it('sends the type of a patch', async () => {
    await serve();
    await client.patch(WEB, { type: 'merge', body: { spec: { replicas: 3 } } });
    await client.patch(WEB, { type: 'json', body: [{ op: 'test', path: '/spec/replicas', value: 3 }] });
    await client.patch(WEB, { type: 'strategic', body: {} }, { subresource: 'status' });
    await client.apply(
      { metadata: WEB, status: {} },
      { fieldManager: 'me', force: true, subresource: 'status' },
    );
    expect(served.server.requests.map(({ headers }) => headers['content-type'])).to.deep.equal([
      'application/merge-patch+json',
      'application/json-patch+json',
      'application/strategic-merge-patch+json',
      'application/apply-patch+yaml',
    ]);
    expect(served.requested.at(-1)).to.equal(
      'PATCH /apis/apps/v1/namespaces/default/deployments/web/status?fieldManager=me&force=true',
    );
    expect(JSON.parse(served.server.requests[1]?.body ?? '')).to.deep.equal([
      { op: 'test', path: '/spec/replicas', value: 3 },
    ]);
    expect(JSON.parse(served.server.requests[3]?.body ?? '')).to.deep.equal({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: WEB,
      status: {},
    });
  });

  it('refuses what the server sent if it is no object', async () => {
    await serve(() => ({ metadata: {} }));
    expect(await client.get(WEB).catch(describeError)).to.equal(
      'Cannot read response of the API server for /apis/apps/v1/namespaces/default/deployments/web: Cannot read object: no name',
    );
  });

  it('names the object of a list that it cannot use', async () => {
    const item = (name: string, labels: unknown) => ({ metadata: { namespace: 'default', name, labels } });
    const items = [item('api', { app: 'api' }), item('web', { app: 1 })];
    await serve(() => ({ metadata: { resourceVersion: '1' }, items }));
    expect(await client.list().catch(describeError)).to.equal(
      'Cannot read response of the API server for /apis/apps/v1/deployments, default/web: Cannot read object: metadata.labels.app is not a string',
    );
  });

  it('waits for the requested delay of a busy server, and retries up to the maximum', async () => {
    let left = 2;
    await serve(
      () => (left-- > 0 ? refusal(429, 'TooManyRequests', 3) : { metadata: WEB }),
      () => ({ maxRetries: 2 }),
    );
    const getting = client.get(WEB);
    await until(served.clock, () => served.requested.length === 1 && served.clock.sleeperCount === 1);
    await served.clock.advance(2_999);
    expect(served.requested).to.have.length(1);
    await served.clock.advance(1);
    await until(served.clock, () => served.requested.length === 2 && served.clock.sleeperCount === 1);
    await served.clock.advance(3_000);
    expect(await getting).to.deep.equal({ metadata: WEB });
  });

  it('does not retry after too long a delay, without one, or after a final refusal', async () => {
    let response: JsonResponse = {};
    await serve(
      () => response,
      () => ({ maxRetries: 2 }),
    );
    for (response of [
      refusal(503, 'ServiceUnavailable', 31),
      refusal(503, 'ServiceUnavailable'),
      refusal(409, 'Conflict', 1),
    ]) {
      expect(await client.get(WEB).catch(describeError)).to.match(/^Cannot get .* \(status/);
    }
    expect(served.requested).to.have.length(3);
  });

  it('takes a token for each request, and observes the signal while it waits for one', async () => {
    await serve(undefined, (clock) => ({ rateLimit: new TokenBucket({ clock, perSecond: 0.01, burst: 2 }) }));
    await client.get(WEB);
    await client.get(WEB);
    const controller = new AbortController();
    const aborted = client.get(WEB, { signal: controller.signal }).catch(describeError);
    const late = client.get(WEB);
    await served.clock.advance(50_000);
    expect(served.requested).to.have.length(2);
    controller.abort(new Error('enough'));
    expect(await aborted).to.equal('enough');
    await served.clock.advance(150_000);
    await late; // longer than the request timeout, which starts when the request has its token
    expect(served.requested).to.have.length(3);
  });

  it('takes tokens of the current tenant, whatever namespace it requests', async () => {
    await serve(undefined, (clock) => ({ rateLimit: new TokenBucket({ clock, perSecond: 1, burst: 1 }) }));
    await client.get(WEB);
    const ended: string[] = [];
    const get = async (name: string) => {
      await client.get({ ...WEB, name }).catch(() => {});
      ended.push(name);
    };
    const greedy = Array.from({ length: 9 }, (_, index) =>
      runForTenant('greedy', () => get(`of-another-${index}`)),
    );
    const own = get('own');
    await served.clock.advance(2000);
    await own;
    expect(ended).to.deep.equal(['of-another-0', 'own']);
    await served.clock.advance(9000);
    await Promise.all(greedy);
  });

  it('checks the permission to write before each request that may change something, and before no other', async () => {
    await serve(undefined, () => ({
      beforeWrite: () => {
        throw new Error('not the leader');
      },
    }));
    await client.get(WEB);
    for (const write of [
      () => client.create({ metadata: WEB }),
      () => client.update({ metadata: WEB }),
      () => client.patch(WEB, { type: 'merge', body: {} }),
      () => client.apply({ metadata: WEB }, { fieldManager: 'me' }),
      () => client.delete(WEB),
    ]) {
      expect(await write().catch(describeError)).to.match(/: not the leader$/);
    }
    expect(served.requested).to.have.length(1);
  });

  it('throws a conflict that differs from an existing name', async () => {
    let response = refusal(409, 'Conflict');
    await serve(() => response);
    expect(isConflict(await client.update({ metadata: WEB }).catch((error: unknown) => error))).to.equal(
      true,
    );
    response = refusal(409, 'AlreadyExists');
    expect(isConflict(await client.create({ metadata: WEB }).catch((error: unknown) => error))).to.equal(
      false,
    );
  });
});

describe('retryOnConflict', () => {
  it('reads again and writes after a conflict, with a short delay, until there is none', async () => {
    const clock = new ManualClock();
    const written: string[] = [];
    const write = async (read: number) => {
      written.push(`${read} at ${clock.monotonicMs()}`);
      if (read < 3) throw conflict();
      return 'done';
    };
    let version = 1;
    const reread = async () => ++version;
    const working = retryOnConflict(version, write, { reread, clock, random: () => 0.5 });
    await clock.advance(1000);
    expect(await working).to.equal('done');
    expect(written).to.deep.equal(['1 at 0', '2 at 15', '3 at 30']);
  });

  it('fails after five attempts, and at once on any other error', async () => {
    const clock = new ManualClock();
    const reread = async () => 0;
    let attempts = 0;
    const writeTo = (failure: Error) => () => {
      attempts++;
      return Promise.reject(failure);
    };
    const always = retryOnConflict(0, writeTo(conflict()), { reread, clock }).catch(
      (error: unknown) => error,
    );
    await clock.advance(1000);
    expect(await always).to.have.property('statusCode', 409);
    expect(attempts).to.equal(5);
    for (const failure of [new Error('no'), conflict('AlreadyExists')]) {
      attempts = 0;
      const failing = retryOnConflict(0, writeTo(failure), { reread, clock });
      expect(await failing.catch((error: unknown) => error)).to.equal(failure);
      expect(attempts).to.equal(1);
    }
  });

  it('throws the conflict if the new version must not be overwritten, and errors of reading it', async () => {
    const clock = new ManualClock();
    const original = conflict();
    let attempts = 0;
    const write = () => {
      attempts++;
      return Promise.reject(original);
    };
    const unread = new Error('unread');
    for (const [reread, expected] of [
      [async () => undefined, original],
      [() => Promise.reject(unread), unread],
    ] as const) {
      const working = retryOnConflict(0, write, { reread, clock }).catch((error: unknown) => error);
      await clock.advance(1000);
      expect(await working).to.equal(expected);
    }
    expect(attempts).to.equal(2);
  });

  it('ends when its signal aborts', async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const { signal } = controller;
    const write = () => Promise.reject(conflict());
    const working = retryOnConflict(0, write, { reread: async () => 0, clock, signal }).catch(String);
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new Error('enough'));
    expect(await working).to.equal('Error: enough');
    expect(clock.sleeperCount).to.equal(0);
  });
});

function conflict(reason = 'Conflict'): ApiError {
  return new ApiError('it has changed', { statusCode: 409, reason, retryAfterMs: undefined });
}
