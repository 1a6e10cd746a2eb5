import { connect, type OutgoingHttpHeaders } from 'node:http2';
import { Agent, request } from 'node:https';
import { expect } from 'chai';
import type { Authorizer } from '#lib/apiserver/access/authorizer.ts';
import type { HealthCheck } from '#lib/apiserver/health.ts';
import type { User } from '#lib/apiserver/http/api-context.ts';
import { metricsApiGroup } from '#lib/resource-metrics/api/metrics-api-group.ts';
import { FRONT_PROXY_NAME } from '#simulator/access/certificate-authority.ts';
import { delayResponses } from '#simulator/api-server/faults.ts';
import { startCluster } from '#simulator/simulated-cluster.ts';
import { type AccessCluster, startAccessCluster } from '#spec/support/access-cluster.ts';
import { jsonOf, requestHttp1, requestHttp2 } from '#spec/support/api-request.ts';
import { eventually } from '#spec/support/eventually.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';
import { FakeMetricsSource, liveNode, nodeUsage, snapshotOf } from '#spec/support/metrics-source.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';
import { until } from '#spec/support/until.ts';

/** Levels of access that a server grants to a caller, each with the permissions of those before it; the first is rejected. */
const STANDINGS = ['refused', 'anonymous', 'authenticated', 'viewer', 'administrator'] as const;
type Standing = (typeof STANDINGS)[number];

interface PathCase {
  readonly path: string;
  readonly method?: string;
  /** The lowest level that RBAC, or the list of paths without access control, permits. */
  readonly from: Standing;
  readonly status: number;
}

const PODS = '/apis/metrics.k8s.io/v1beta1/namespaces/default/pods';
const NODES = '/apis/metrics.k8s.io/v1beta1/nodes';

const PATHS: readonly PathCase[] = [
  { path: '/healthz', from: 'anonymous', status: 200 },
  { path: '/livez?verbose', from: 'anonymous', status: 200 },
  { path: '/readyz', from: 'anonymous', status: 200 },
  { path: '/readyz', method: 'POST', from: 'anonymous', status: 200 },
  { path: '/livez/ping', from: 'administrator', status: 200 },
  { path: '/version', from: 'anonymous', status: 200 },
  { path: '/apis', from: 'authenticated', status: 200 },
  { path: '/apis/metrics.k8s.io', from: 'authenticated', status: 200 },
  { path: '/apis/metrics.k8s.io/v1beta1', from: 'authenticated', status: 200 },
  { path: '/openapi/v2', from: 'authenticated', status: 200 },
  { path: '/openapi/v3', from: 'authenticated', status: 200 },
  { path: '/metrics', from: 'administrator', status: 200 },
  { path: '/nowhere', from: 'administrator', status: 404 },
  { path: NODES, from: 'viewer', status: 200 },
  { path: `${NODES}/node-a`, from: 'viewer', status: 200 },
  { path: `${NODES}/node-z`, from: 'viewer', status: 404 },
  { path: NODES, method: 'DELETE', from: 'administrator', status: 405 },
  { path: PODS, from: 'viewer', status: 200 },
  { path: '/apis/metrics.k8s.io/v1beta1/pods?labelSelector=app%3Da', from: 'viewer', status: 200 },
  { path: '/apis/metrics.k8s.io/v1beta1/pods?watch=1', from: 'administrator', status: 405 },
];

interface Caller {
  readonly title: string;
  readonly standing: Standing;
  /** The credentials that are sent to a server of the cluster. */
  readonly shows: (issuers: Issuers) => Shown;
}

interface Shown {
  readonly cert?: string;
  readonly key?: string;
  readonly headers?: OutgoingHttpHeaders;
}

/** Issuers of credentials that the server's cluster accepts, and of others. */
interface Issuers {
  readonly users: TestAuthority;
  /** Issued by the users' authority. */
  readonly intermediate: TestAuthority;
  readonly frontProxy: TestAuthority;
  readonly stranger: TestAuthority;
}

const DAY_MS = 86_400_000;
const past = { notBefore: new Date(Date.now() - 3 * DAY_MS), notAfter: new Date(Date.now() - DAY_MS) };
const future = { notBefore: new Date(Date.now() + DAY_MS), notAfter: new Date(Date.now() + 3 * DAY_MS) };
const named = (commonName: string, ...organizations: string[]) => ({
  subject: { commonName, organizations },
});
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

const asViewer = { 'x-remote-user': 'viewer', 'x-remote-group': 'system:authenticated' };
const asMaster = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' };
const proxy = named(FRONT_PROXY_NAME);

const CALLERS: readonly Caller[] = [
  caller('nobody', 'anonymous', () => ({})),
  caller('nobody, with forged headers', 'anonymous', () => ({ headers: asMaster })),
  caller('nobody, with impersonation', 'anonymous', () => ({ headers: { 'impersonate-user': 'viewer' } })),
  caller('somebody with a password', 'anonymous', () => ({ headers: { authorization: 'Basic YTpi' } })),
  caller('the front proxy for a viewer', 'viewer', ({ frontProxy }) => ({
    ...frontProxy.leaf(proxy),
    headers: asViewer,
  })),
  caller('the front proxy for somebody without permissions', 'authenticated', ({ frontProxy }) => ({
    ...frontProxy.leaf(proxy),
    headers: { ...asViewer, 'x-remote-user': 'alice' },
  })),
  caller('the front proxy for an administrator of several groups', 'administrator', ({ frontProxy }) => ({
    ...frontProxy.leaf(proxy),
    headers: { 'x-remote-user': 'root', 'x-remote-group': ['a, b', 'system:masters'] },
  })),
  caller('the front proxy for a member of a group that only looks like two', 'authenticated', (issuers) => ({
    ...issuers.frontProxy.leaf(proxy),
    headers: { 'x-remote-user': 'root', 'x-remote-group': 'a, system:masters' },
  })),
  caller('the front proxy for nobody in particular', 'anonymous', ({ frontProxy }) => ({
    ...frontProxy.leaf(proxy),
    headers: { 'x-remote-user': 'system:anonymous', 'x-remote-group': 'system:unauthenticated' },
  })),
  caller('the front proxy without a user', 'refused', ({ frontProxy }) => frontProxy.leaf(proxy)),
  caller('the front proxy with a wrong name', 'refused', ({ frontProxy }) => ({
    ...frontProxy.leaf(named('front-proxy')),
    headers: asMaster,
  })),
  caller('the front proxy with a certificate that has expired', 'refused', ({ frontProxy }) => ({
    ...frontProxy.leaf({ ...proxy, validity: past }),
    headers: asMaster,
  })),
  caller('a user of the name of the front proxy', 'authenticated', ({ users }) => ({
    ...users.leaf(proxy),
    headers: asMaster,
  })),
  caller('somebody unknown of the name of the front proxy', 'refused', ({ stranger }) => ({
    ...stranger.leaf(proxy),
    headers: asMaster,
  })),
  caller('an administrator with a certificate', 'administrator', ({ users }) =>
    users.leaf(named('root', 'system:masters')),
  ),
  caller('a viewer with a certificate', 'viewer', ({ users }) => users.leaf(named('viewer'))),
  caller('a viewer with a certificate of an intermediate', 'viewer', ({ intermediate }) =>
    intermediate.leaf(named('viewer'), [intermediate]),
  ),
  caller('a viewer who leaves out the intermediate', 'refused', ({ intermediate }) =>
    intermediate.leaf(named('viewer')),
  ),
  caller('somebody with a certificate and no permissions', 'authenticated', ({ users }) =>
    users.leaf(named('alice')),
  ),
  caller('somebody with a certificate and forged headers', 'authenticated', ({ users }) => ({
    ...users.leaf(named('alice')),
    headers: asMaster,
  })),
  caller('somebody with a certificate, who impersonates', 'authenticated', ({ users }) => ({
    ...users.leaf(named('alice')),
    headers: { 'impersonate-user': 'root', 'impersonate-group': 'system:masters' },
  })),
  caller('somebody with a certificate that has expired', 'refused', ({ users }) =>
    users.leaf({ ...named('viewer'), validity: past }),
  ),
  caller('somebody with a certificate that is not yet valid', 'refused', ({ users }) =>
    users.leaf({ ...named('viewer'), validity: future }),
  ),
  caller("somebody with a server's certificate", 'refused', ({ users }) =>
    users.leaf({ ...named('viewer'), usages: ['serverAuth'] }),
  ),
  caller('somebody with a certificate of an unknown authority', 'refused', ({ stranger }) =>
    stranger.leaf(named('root', 'system:masters')),
  ),
  caller('somebody with a good token', 'viewer', () => bearer('good')),
  caller('somebody with a good token and no permissions', 'authenticated', () => bearer('poor')),
  caller('somebody with a good token and forged headers', 'authenticated', () => ({
    headers: { ...bearer('poor').headers, ...asMaster },
  })),
  caller(
    'somebody with a good token and a certificate of an unknown authority',
    'viewer',
    ({ stranger }) => ({
      ...stranger.leaf(named('root', 'system:masters')),
      ...bearer('good'),
    }),
  ),
  caller('somebody with a bad token', 'refused', () => bearer('bad')),
  caller('somebody with a token that has expired', 'refused', () => bearer('expired')),
  caller('an administrator with a certificate, and a bad token', 'administrator', ({ users }) => ({
    ...users.leaf(named('root', 'system:masters')),
    ...bearer('bad'),
  })),
];

for (const { name, allowedNames } of [
  { name: 'with a name for the front proxy', allowedNames: [FRONT_PROXY_NAME] },
  { name: 'with any name for the front proxy', allowedNames: [] },
]) {
  describe(`startDelegatedAccess ${name}`, () => {
    const issuers = createIssuers();
    let access: AccessCluster;

    before(async () => {
      access = await startAccessCluster([], { groups: [metricsGroup()], healthChecks: NO_CHECKS });
      trust(access, issuers, allowedNames);
      await untilTrusted(access, issuers);
    });
    after(() => access[Symbol.asyncDispose]());

    for (const { title, standing, shows } of CALLERS) {
      const isUnnamed = title.endsWith('a wrong name') && allowedNames.length === 0;
      const expected: Standing = isUnnamed ? 'administrator' : standing;
      it(`authenticates ${title} as ${expected}, on every path`, async () => {
        const { headers = {}, ...certificate } = shows(issuers);
        using agent = persistent();
        const session = connect(`https://127.0.0.1:${access.port}`, {
          ...certificate,
          rejectUnauthorized: false,
        });
        try {
          for (const one of PATHS) {
            const { path, method = 'GET' } = one;
            const request = { port: access.port, path, method, headers, ...certificate };
            const responses = await Promise.all([
              requestHttp1({ ...request, agent: agent.agent }),
              requestHttp2({ ...request, session }),
            ]);
            const statuses = responses.map(({ status }) => status);
            const due = statusDue(one, expected);
            expect(statuses, `${method} ${path}`).to.deep.equal([due, due]);
          }
        } finally {
          session.close();
        }
      });
    }
  });
}

describe('startDelegatedAccess', () => {
  it('believes other authorities as soon as the cluster does, on connections that are there', async () => {
    const issuers = createIssuers();
    const next = createIssuers();
    await using access = await startAccessCluster([], { groups: [metricsGroup()] });
    trust(access, issuers, []);
    await untilTrusted(access, issuers);
    using retained = persistent();
    const shown = issuers.users.leaf(named('viewer'));
    const send = async () =>
      (await requestHttp1({ port: access.port, path: NODES, agent: retained.agent, ...shown })).status;
    expect(await send()).to.equal(200);
    trust(access, next, []);
    await untilTrusted(access, next);
    expect(await send()).to.equal(401);
    trust(access, issuers, []);
    await untilTrusted(access, issuers);
    expect(await send()).to.equal(200);
    expect(retained.connectionCount).to.equal(1);
  });

  it('reads the front proxy configuration from the cluster although a flag sets the client CA', async () => {
    const issuers = createIssuers();
    await using directory = await TemporaryDirectory.create();
    const file = await directory.write('users.pem', issuers.users.pem);
    await using access = await startAccessCluster([`--client-ca-file=${file}`], { groups: [metricsGroup()] });
    trust(access, { ...issuers, users: issuers.stranger }, [FRONT_PROXY_NAME]);
    const shown = issuers.frontProxy.leaf(proxy);
    const status = async (credentials: Shown) =>
      (await requestHttp1({ port: access.port, path: NODES, ...credentials })).status;
    await eventually(async () => (await status({ ...shown, headers: asViewer })) === 200);
    expect(await status(issuers.users.leaf(named('viewer')))).to.equal(200);
    expect(await status(issuers.stranger.leaf(named('viewer')))).to.equal(401);
  });

  it('reads the client CA from the cluster although a flag sets the CA of the front proxy', async () => {
    const issuers = createIssuers();
    await using directory = await TemporaryDirectory.create();
    const file = await directory.write('front-proxy.pem', issuers.frontProxy.pem);
    await using access = await startAccessCluster([`--requestheader-client-ca-file=${file}`], {
      groups: [metricsGroup()],
    });
    trust(access, { ...issuers, frontProxy: issuers.stranger }, []);
    await untilTrusted(access, issuers);
    const status = async (issuer: TestAuthority) =>
      (await requestHttp1({ port: access.port, path: NODES, ...issuer.leaf(proxy), headers: asViewer }))
        .status;
    expect(await status(issuers.frontProxy)).to.equal(200);
    expect(await status(issuers.stranger)).to.equal(401);
  });

  it('authenticates the user that the front proxy forwards, although its certificate is valid for a user, too', async () => {
    const issuers = createIssuers();
    const users: User[] = [];
    const authorizer: Authorizer = async ({ user }) => {
      users.push(user);
      return { isAllowed: true };
    };
    await using access = await startAccessCluster([], { authorizer });
    trust(access, { ...issuers, frontProxy: issuers.users }, [FRONT_PROXY_NAME]);
    await untilTrusted(access, issuers);
    const shown = { ...issuers.users.leaf(proxy), headers: asViewer };
    expect((await requestHttp1({ port: access.port, path: '/version', ...shown })).status).to.equal(200);
    expect(users.at(-1)?.name).to.equal('viewer');
    const { headers: _, ...silent } = shown;
    await requestHttp1({ port: access.port, path: '/version', ...silent });
    expect(users.at(-1)?.name).to.equal(FRONT_PROXY_NAME);
  });

  it('continues with the previous configuration when the config map is deleted or unreadable', async () => {
    const issuers = createIssuers();
    await using access = await startAccessCluster([], { groups: [metricsGroup()] });
    trust(access, issuers, []);
    await untilTrusted(access, issuers);
    access.configure({ 'client-ca-file': 'nothing', 'requestheader-allowed-names': '{' });
    await untilLogged(access, 'Cannot read requestheader-allowed-names');
    await untilTrusted(access, issuers);
    access.cluster.store.delete('configmaps', 'kube-system', 'extension-apiserver-authentication');
    await untilLogged(access, 'the ConfigMap was deleted');
    await untilTrusted(access, issuers);
  });

  it('judges a certificate by the time of the request', async () => {
    const issuers = createIssuers();
    await using access = await startAccessCluster([], { groups: [metricsGroup()] });
    trust(access, issuers, []);
    await untilTrusted(access, issuers);
    const shown = issuers.users.leaf({
      ...named('viewer'),
      validity: {
        notBefore: new Date(Date.now() - DAY_MS),
        notAfter: new Date(access.clock.nowMs() + 60_000),
      },
    });
    using retained = persistent();
    const send = async () =>
      (await requestHttp1({ port: access.port, path: NODES, agent: retained.agent, ...shown })).status;
    expect(await send()).to.equal(200);
    access.clock.stepWall(120_000);
    expect(await send()).to.equal(401);
    expect(retained.connectionCount).to.equal(1);
  });

  it('trusts exactly the configured headers of the front proxy, and a UID only with a header for it', async () => {
    const issuers = createIssuers();
    const users: User[] = [];
    const authorizer: Authorizer = async ({ user }) => {
      users.push(user);
      return { isAllowed: true };
    };
    await using access = await startAccessCluster([], { authorizer });
    trust(access, issuers, [FRONT_PROXY_NAME]);
    await untilTrusted(access, issuers);
    const send = async () => {
      for (const one of [requestHttp1, requestHttp2]) {
        await one({
          port: access.port,
          path: '/version',
          ...issuers.frontProxy.leaf(proxy),
          headers: {
            'X-Remote-User': Buffer.from('zoë').toString('latin1'),
            'X-Remote-Group': ['a,b', 'c', ''],
            'X-Remote-Uid': '7',
            'X-Remote-Extra-Scopes': ['x', 'y, z'],
            'X-Remote-Extra-Example.com%2fkey': 'v',
            'X-Remote-Extra-__proto__': 'w',
            'X-Remote-Extra-%zz': 'u',
          },
        });
      }
      return users.splice(0).slice(-2);
    };
    const extra = JSON.parse(
      '{ "scopes": ["x", "y, z"], "example.com/key": ["v"], "__proto__": ["w"], "%zz": ["u"] }',
    );
    const user = { name: 'zoë', uid: '', groups: ['a,b', 'c', 'system:authenticated'], extra };
    expect(await send()).to.deep.equal([user, user]);
    access.configure({ 'requestheader-uid-headers': '["X-Remote-Uid"]' });
    await eventually(async () => (await send()).every(({ uid }) => uid === '7'));
  });

  it('responds with 500 and a Status while the API server is unavailable, except where no review is needed', async () => {
    const issuers = createIssuers();
    await using access = await startAccessCluster([], { groups: [metricsGroup()], healthChecks: NO_CHECKS });
    trust(access, issuers, []);
    await untilTrusted(access, issuers);
    const viewer = issuers.users.leaf(named('viewer'));
    const root = issuers.users.leaf(named('root', 'system:masters'));
    const send = (path: string, shown: Shown) =>
      Promise.all([requestHttp1, requestHttp2].map((one) => one({ port: access.port, path, ...shown })));
    expect((await send(NODES, viewer)).map(({ status }) => status)).to.deep.equal([200, 200]);
    await access.cluster.apiServer[Symbol.asyncDispose]();
    expect((await send(NODES, viewer)).map(({ status }) => status)).to.deep.equal([200, 200]); // cached
    await access.clock.advance(10_000);
    for (const path of [NODES, '/metrics', '/nowhere']) {
      for (const response of await send(path, viewer)) {
        expect(response.status).to.equal(500);
        expect(jsonOf(response)).to.include({ kind: 'Status', reason: 'InternalError', code: 500 });
      }
    }
    expect((await send(NODES, bearer('good'))).map(({ status }) => status)).to.deep.equal([401, 401]);
    expect((await send(NODES, root)).map(({ status }) => status)).to.deep.equal([200, 200]);
    expect((await send('/healthz', {})).map(({ status }) => status)).to.deep.equal([200, 200]);
  });

  it('waits at most 10 s for a review whose caller has left, and logs nothing', async () => {
    const access = await startAccessCluster(['--authentication-skip-lookup']);
    const { clock, cluster, logger, port } = access;
    cluster.apiServer.setFaults(delayResponses(60_000));
    const before = clock.sleeperCount;
    for (const headers of [bearer('good').headers, {}]) {
      using retained = persistent();
      const outgoing = request({
        port,
        path: '/metrics',
        headers,
        agent: retained.agent,
        rejectUnauthorized: false,
      });
      outgoing.on('error', () => {}); // it disconnects on purpose
      outgoing.end();
      await eventually(() => clock.sleeperCount === before + 2); // the deadlines of request and review
      outgoing.destroy();
      await eventually(() => clock.sleeperCount === before + 1); // the request has ended
      await clock.advance(10_000);
      await eventually(() => clock.sleeperCount === before);
    }
    const pending = requestHttp1({ port, path: '/metrics', ...bearer('good') }).catch(() => 'cut off');
    await eventually(() => clock.sleeperCount > before);
    const ending = access[Symbol.asyncDispose]();
    await until(clock, () => clock.sleeperCount > before + 2); // the deadlines of request and review, and the drain
    await clock.advance(1_500);
    await ending;
    expect(await pending).to.equal('cut off');
    expect(logger.lines.filter(({ level }) => level !== 'info')).to.deep.equal([]);
  });

  it('logs each reason of a refusal at a higher verbosity', async () => {
    const issuers = createIssuers();
    await using access = await startAccessCluster();
    trust(access, issuers, []);
    await untilTrusted(access, issuers);
    const { length: before } = access.logger.lines; // while it was not trusted yet
    const refused = { ...issuers.stranger.leaf(named('root')), ...bearer('bad') };
    expect((await requestHttp1({ port: access.port, path: '/version', ...refused })).status).to.equal(401);
    const unknown = 'certificate signed by unknown authority';
    expect(access.logger.lines.slice(before)).to.deep.equal([
      {
        ...{ level: 'info', message: 'Unable to authenticate the request', verbosity: 2 },
        fields: { err: `${unknown}; ${unknown}; invalid bearer token` },
      },
    ]);
  });

  it('reads authorities, names and headers from flags without a request to the cluster', async () => {
    const issuers = createIssuers();
    await using directory = await TemporaryDirectory.create();
    await using access = await startAccessCluster(
      [
        '--authentication-skip-lookup',
        `--client-ca-file=${await directory.write('users.crt', issuers.users.pem)}`,
        `--requestheader-client-ca-file=${await directory.write('proxy.crt', issuers.frontProxy.pem)}`,
        '--requestheader-allowed-names=mine',
        '--requestheader-username-headers=X-User',
        '--requestheader-group-headers=X-Group',
      ],
      { groups: [metricsGroup()] },
    );
    grant(access);
    const send = async (shown: Shown) =>
      (await requestHttp1({ port: access.port, path: '/metrics', ...shown })).status;
    const headers = { 'x-user': 'root', 'x-group': 'system:masters' };
    const mine = issuers.frontProxy.leaf(named('mine'));
    expect(await send(issuers.users.leaf(named('root', 'system:masters')))).to.equal(200);
    expect(await send({ ...mine, headers })).to.equal(200);
    expect(await send({ ...mine, headers: asMaster })).to.equal(401);
    expect(await send({ ...issuers.frontProxy.leaf(named('other')), headers })).to.equal(401);
  });

  it('starts without permission to read the client CA configuration only where that is tolerated', async () => {
    const refuse = async (...flags: string[]) => {
      await using cluster = await startCluster({ nodes: 0 });
      cluster.rbac.revoke('metrics-server-auth-reader');
      await using _access = await startAccessCluster(flags, {}, cluster);
    };
    await refuse('--authentication-tolerate-lookup-failure');
    await refuse('--authentication-skip-lookup');
    const failure = await refuse().then(
      () => undefined,
      (error: Error) => error,
    );
    expect(failure?.message).to.include('extension-apiserver-authentication-reader');
  });
});

function caller(title: string, standing: Standing, shows: Caller['shows']): Caller {
  return { title, standing, shows };
}

/** An agent that uses one connection for all requests. */
function persistent(): Disposable & { readonly agent: Agent; readonly connectionCount: number } {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let connectionCount = 0;
  const create = agent.createConnection.bind(agent);
  agent.createConnection = (...args) => {
    connectionCount++;
    return create(...args);
  };
  return {
    agent,
    get connectionCount() {
      return connectionCount;
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

function statusDue({ from, status }: PathCase, standing: Standing): number {
  if (standing === 'refused') return 401;
  return STANDINGS.indexOf(standing) >= STANDINGS.indexOf(from) ? status : 403;
}

function createIssuers(): Issuers {
  const users = new TestAuthority('users');
  return {
    users,
    intermediate: new TestAuthority('intermediate', users),
    frontProxy: new TestAuthority('front-proxy'),
    stranger: new TestAuthority('stranger'),
  };
}

/** Makes the cluster trust these issuers, and grants permissions to its viewers. */
function trust(access: AccessCluster, issuers: Issuers, allowedNames: readonly string[]): void {
  access.configure({
    'client-ca-file': issuers.users.pem,
    'requestheader-client-ca-file': issuers.frontProxy.pem,
    'requestheader-allowed-names': JSON.stringify(allowedNames),
  });
  grant(access);
}

function grant({ cluster }: AccessCluster): void {
  cluster.authenticator.setToken('good', { username: 'viewer' });
  cluster.authenticator.setToken('poor', { username: 'alice' });
  cluster.authenticator.setToken('expired', { username: 'viewer' });
  cluster.authenticator.revokeToken('expired');
  cluster.rbac.grant({
    name: 'viewers',
    role: 'viewers',
    users: ['viewer'],
    rules: [{ verbs: ['get', 'list'], apiGroups: ['metrics.k8s.io'], resources: ['nodes', 'pods'] }],
  });
}

async function untilTrusted({ port }: AccessCluster, { users }: Issuers): Promise<void> {
  const shown = users.leaf(named('root', 'system:masters'));
  await eventually(async () => (await requestHttp1({ port, path: '/version', ...shown })).status === 200);
}

async function untilLogged({ logger }: AccessCluster, reason: string): Promise<void> {
  await eventually(() => logger.lines.some(({ fields }) => String(fields.reason).includes(reason)));
}

const NO_CHECKS: readonly HealthCheck[] = [];

function metricsGroup() {
  const source = new FakeMetricsSource();
  source.current = snapshotOf({ nodes: [nodeUsage('node-a', {})] });
  source.liveNodes.set('node-a', liveNode('node-a', {}));
  return metricsApiGroup(source);
}
