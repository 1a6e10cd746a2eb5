import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { freePort } from '#spec/support/free-port.ts';
import { type RealDatabase, startPostgres } from '#spec/support/real-databases.ts';
import type { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { needControllers } from '../control-plane/need-binaries.ts';
import { InstalledAutoscaler } from './installed-autoscaler.ts';
import { ObservedObjects } from './observed-objects.ts';
import { deployment } from './scheduled-objects.ts';

const FLAGS = [
  '--bound-service-account-token-audience=sources',
  '--allowed-hosts=127.0.0.0/8',
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];
const READER = 'system:serviceaccount:default:reader';

// The steps build on each other. The replica that does not lead serves metrics to HPAs.
describe('ScaledObjects with two replicas of the autoscaler, on a real API server with the real HPA controller', function () {
  this.timeout(600_000);
  this.bail(true);

  const stack = new AsyncDisposableStack();
  let installed: InstalledAutoscaler;
  let objects: ObservedObjects;
  let leader: SpawnedProgram;

  before(async function () {
    const binaries = await needControllers(this);
    installed = stack.use(await InstalledAutoscaler.start(binaries, 'autoscaler-scaled-objects'));
    objects = new ObservedObjects(installed);
    leader = await installed.startReplica(FLAGS);
    await leader.line(/Elected leader/, 60_000);
    const port = await freePort();
    await installed.expose(port);
    const standby = await installed.startReplica([...FLAGS, `--secure-port=${port}`]);
    await standby.line(/Serving/, 60_000);
    const service = 'apiservice/v1beta1.external.metrics.k8s.io';
    await installed.run('wait', '--for=condition=Available', service, '--timeout=60s');
  });

  after(() => stack.disposeAsync());

  it('are queried by both replicas with tokens of service accounts', async () => {
    const callers = new Set<string>();
    const audiences = new Set<string>();
    await installed.grant('create', 'serviceaccounts/token', 'reader');
    const server = createServer(({ headers }, response) => {
      const [, payload = ''] = (headers.authorization ?? '').split('.');
      const { sub: subject, aud = [] } =
        payload === '' ? {} : JSON.parse(Buffer.from(payload, 'base64url').toString());
      if (subject) callers.add(subject);
      for (const audience of aud) audiences.add(audience);
      response.writeHead(subject === READER ? 200 : 401).end('{"value":7}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    stack.defer(() => void server.close());
    const { port } = server.address() as AddressInfo;
    await installed.apply(
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'reader', namespace: 'default' } },
      authentication('token', {
        boundServiceAccountToken: [{ parameter: 'token', serviceAccountName: 'reader' }],
      }),
      deployment('served', 1),
      scaledObject('served', {
        type: 'metrics-api',
        metadata: {
          ...{ url: `http://127.0.0.1:${port}/`, valueLocation: 'value', targetValue: '10' },
          authModes: 'bearer',
        },
        authenticationRef: { name: 'token' },
      }),
    );
    const value = async () => await objects.external('s0-metric-api-value', 'served');
    await objects.until(async () => (await value()) === '7', 'the other replica serves the value');
    await objects.untilCondition('served', 'Active', 'True');
    expect([...callers]).to.deep.equal([READER]);
    expect([...audiences]).to.deep.equal(['sources']);
  });

  it('scale a Deployment from 0 to 1 and to 3 by a query of PostgreSQL, and back to 0', async function () {
    const database: RealDatabase = stack.use(await startPostgres(this));
    await database.run('CREATE TABLE orders (id serial)');
    const password = Buffer.from('secret').toString('base64');
    await installed.grant('get', 'secrets', 'shop');
    await installed.apply(
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'shop', namespace: 'default' },
        data: { password },
      },
      authentication('shop', { secretTargetRef: [{ parameter: 'password', name: 'shop', key: 'password' }] }),
      deployment('shop', 0),
      scaledObject('shop', {
        type: 'postgresql',
        metadata: {
          ...{ host: '127.0.0.1', port: `${database.port}`, userName: 'reader', dbName: 'shop' },
          ...{ sslmode: 'require', query: 'SELECT count(*) FROM orders', targetQueryValue: '10' },
        },
        authenticationRef: { name: 'shop' },
      }),
    );
    await objects.untilCondition('shop', 'Active', 'False');
    expect(await objects.replicas('shop')).to.equal(0);
    await database.run('INSERT INTO orders DEFAULT VALUES');
    await objects.untilReplicas('shop', 1);
    await database.run('INSERT INTO orders SELECT FROM generate_series(1, 28)');
    await objects.untilReplicas('shop', 3);
    await database.run('DELETE FROM orders');
    await objects.untilReplicas('shop', 0);
  });

  it('continue to scale when the leader is killed', async () => {
    leader.kill('SIGKILL');
    await leader.ended;
    await installed.run('annotate', 'so', 'served', 'autoscaling.keda.sh/paused-replicas=4');
    await objects.untilReplicas('served', 4);
    await objects.untilCondition('served', 'Paused', 'True');
  });

  function authentication(name: string, spec: object): object {
    const metadata = { name, namespace: 'default' };
    return { apiVersion: 'keda.sh/v1alpha1', kind: 'TriggerAuthentication', metadata, spec };
  }

  function scaledObject(name: string, trigger: object): object {
    return {
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'ScaledObject',
      metadata: { name, namespace: 'default' },
      spec: {
        ...{ scaleTargetRef: { name }, pollingInterval: 2, cooldownPeriod: 3, triggers: [trigger] },
        advanced: {
          horizontalPodAutoscalerConfig: { behavior: { scaleDown: { stabilizationWindowSeconds: 0 } } },
        },
      },
    };
  }
});
