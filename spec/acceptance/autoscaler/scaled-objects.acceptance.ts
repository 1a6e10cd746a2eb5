import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { freePort } from '#spec/support/free-port.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';
import { requireProgram } from '#spec/support/machine-programs.ts';
import { type RealRedis, startRedis } from '#spec/support/real-redis.ts';
import type { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { needControllers } from '../control-plane/need-binaries.ts';
import { InstalledAutoscaler } from './installed-autoscaler.ts';
import { deployment } from './scheduled-objects.ts';

const ACCOUNT = 'system:serviceaccount:kube-system:autoscaler';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const SCALED_OBJECTS = '/apis/keda.sh/v1alpha1/namespaces/default/scaledobjects';
const BROKEN = { minReplicaCount: 5, maxReplicaCount: 10, idleReplicaCount: 5 };
const TIMEOUT_MS = 90_000;

interface Observed {
  readonly metadata?: { readonly name?: string; readonly uid?: string };
  readonly spec: { readonly replicas?: number };
  readonly status?: { readonly conditions?: readonly { type: string; status: string; message?: string }[] };
}

// The steps build on each other.
describe('ScaledObjects, on a real API server with the real HPA controller', function () {
  this.timeout(600_000);
  this.bail(true);

  const stack = new AsyncDisposableStack();
  let installed: InstalledAutoscaler;
  let autoscaler: SpawnedProgram;
  let redis: RealRedis;
  let port: number;
  let webhookPort: number;
  let webhookFolder: string;
  const webhookAuthority = new TestAuthority('webhook');

  before(async function () {
    const binaries = await needControllers(this);
    redis = stack.use(await startRedis(await requireProgram(this, 'redis-server')));
    installed = stack.use(await InstalledAutoscaler.start(binaries, 'autoscaler-scaled-objects'));
    [port, webhookPort] = [await freePort(), await freePort()];
    webhookFolder = join(installed.controlPlane.folder, 'webhook');
    await mkdir(webhookFolder, { mode: 0o700 });
    const { cert, key } = webhookAuthority.leaf({ usages: ['serverAuth'], names: ['localhost'] });
    await writeFile(join(webhookFolder, 'tls.crt'), cert);
    await writeFile(join(webhookFolder, 'tls.key'), key, { mode: 0o600 });
    await installed.expose(port);
    await start();
    await installed.run(
      'wait',
      '--for=condition=Available',
      'apiservice/v1beta1.external.metrics.k8s.io',
      '--timeout=60s',
    );
  });

  after(() => stack.disposeAsync());

  it('are explained by kubectl, and validated by their schema', async () => {
    // The API server publishes the schema of a definition some time after it serves the objects.
    let explained = '';
    for (let check = 0; check < 240 && explained === ''; check++) {
      if (check > 0) await sleep(250);
      explained = await installed.run('explain', 'so.spec.fallback.failureThreshold').catch(() => '');
    }
    expect(explained).to.include('Number of consecutive failures. After more failures');
    const refusal = await installed
      .apply(scaledObject('wrong', { pollingInterval: 0 }))
      .then(() => 'it was taken', String);
    expect(refusal).to.include('spec.pollingInterval');
  });

  it('are validated by the webhook before they are stored, unless the autoscaler cannot be reached', async () => {
    const [webhooks] = parseAllDocuments(
      await readFile('manifests/components/scaled-objects-webhook/webhook.yaml', 'utf8'),
    ).map((document) => document.toJS());
    const caBundle = Buffer.from(webhookAuthority.pem).toString('base64');
    // There are no pods behind the Service.
    for (const { clientConfig } of webhooks.webhooks) {
      const { service } = clientConfig;
      Object.assign(clientConfig, { caBundle, url: `https://localhost:${webhookPort}${service.path}` });
      delete clientConfig.service;
    }
    await installed.apply(webhooks);
    const broken = scaledObject('broken', BROKEN);
    const refusals: string[] = [];
    const isRefused = async () => {
      const message = await installed.apply(broken).then(() => 'it was taken', String);
      refusals.push(message);
      if (message === 'it was taken') await installed.run('delete', 'so', 'broken', '--timeout=60s');
      return message !== 'it was taken'; // the API server applies a new configuration after about a second
    };
    await until(isRefused, 'broken is refused');
    expect(refusals.at(-1)).to.include(
      'admission webhook "vscaledobject.kb.io" denied the request: IdleReplicaCount=5 must be less than MinReplicaCount=5',
    );
    const aws = { provider: 'aws', roleArn: 'arn', identityOwner: 'workload' };
    const authentication = await installed
      .apply({
        ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'TriggerAuthentication', spec: { podIdentity: aws } },
        metadata: { name: 'aws', namespace: 'default' },
      })
      .then(() => 'it was taken', String);
    expect(authentication).to.include("roleArn of PodIdentity can't be set if KEDA isn't identityOwner");
  });

  it('scale a Deployment from 0 to 1 and to 4 by a list of Redis, and back to 0', async () => {
    const password = Buffer.from('secret').toString('base64');
    await redis.send('ACL', 'SETUSER', 'reader', 'on', '>secret', '~*', '+@all');
    await installed.apply(
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'redis', namespace: 'default' },
        data: { password },
      },
      {
        apiVersion: 'keda.sh/v1alpha1',
        kind: 'TriggerAuthentication',
        metadata: { name: 'redis', namespace: 'default' },
        spec: { secretTargetRef: [{ parameter: 'password', name: 'redis', key: 'password' }] },
      },
      deployment('web', 0),
      scaledObject('web'),
    );
    await untilCondition('Ready', 'False');
    expect((await condition('Ready'))?.message).to.include(
      'Cannot read Secret default/redis: forbidden; grant it with a Role in namespace "default" that allows get on secrets "redis"',
    );
    await installed.grant('get', 'secrets', 'redis');
    await untilCondition('Ready', 'True');
    await untilCondition('Active', 'False');
    expect(await replicas()).to.equal(0);
    await redis.send('RPUSH', 'jobs', 'one');
    await until(async () => (await replicas()) === 1, 'web has 1 replica');
    for (let job = 0; job < 37; job++) await redis.send('RPUSH', 'jobs', `${job}`);
    await until(async () => (await replicas()) === 4, 'web has 4 replicas');
    await redis.send('DEL', 'jobs');
    await until(async () => (await replicas()) === 0, 'web has none any more');
  });

  it('retain the replicas while the source fails, and activate and deactivate the fallback', async () => {
    for (let job = 0; job < 15; job++) await redis.send('RPUSH', 'jobs', `${job}`);
    await until(async () => (await replicas()) === 2, 'web has 2 replicas');
    await redis.send('ACL', 'SETUSER', 'reader', 'off');
    await redis.send('CLIENT', 'KILL', 'USER', 'reader');
    await untilCondition('Fallback', 'True');
    await until(async () => (await replicas()) === 3, 'web has the replicas of the fallback');
    await redis.send('ACL', 'SETUSER', 'reader', 'on');
    await untilCondition('Fallback', 'False');
  });

  it('scale by the running pods of another workload', async () => {
    const metadata = { podSelector: 'app=web', value: '1' };
    await installed.apply(
      deployment('follower', 0),
      scaledObject('follower', {
        fallback: undefined,
        triggers: [{ type: 'kubernetes-workload', metadata }],
      }),
    );
    await until(async () => (await replicas()) === 2, 'web has 2 replicas again');
    await until(async () => (await replicas('follower')) === 2, 'follower has as many');
    await installed.run('delete', 'so', 'follower', '--timeout=60s');
  });

  it('are shown by kubectl get', async () => {
    const [head = '', line = ''] = (await installed.run('get', 'so', 'web')).trim().split('\n');
    expect(head.trim().split(/\s+/)).to.deep.equal(
      'NAME SCALETARGETKIND SCALETARGETNAME MIN MAX READY ACTIVE FALLBACK PAUSED TRIGGERS AUTHENTICATIONS AGE'.split(
        ' ',
      ),
    );
    expect(line).to.match(
      /^web\s+apps\/v1\.Deployment\s+web\s+10\s+True\s+True\s+False\s+False\s+redis\s+redis\s/,
    );
    const events = await installed.run('get', 'events', '--output=json');
    expect(events).to.include(
      'Scaled apps/v1.Deployment default/web from 0 to 1, triggered by s0-redis-jobs',
    );
  });

  it('restore the original replicas of the target when they are deleted, and delete their HPA', async () => {
    autoscaler.kill('SIGKILL');
    await autoscaler.ended;
    await installed.apply(scaledObject('broken', BROKEN)); // no webhook validates it now
    await installed.run('delete', 'so', 'broken', '--timeout=60s');
    await start();
    await installed.run('delete', 'so', 'web', '--timeout=60s');
    await until(async () => (await replicas()) === 0, 'web has its first replicas');
    await until(
      async () => !(await installed.run('get', 'hpa', '--output=name')).includes('keda-hpa-web'),
      'its HPA is gone',
    );
  });

  it('need no other permissions, except for the Secret before it was granted', async () => {
    const events = (await installed.controlPlane.auditEvents()).filter(({ user }) => user === ACCOUNT);
    const refused = events.filter(({ status }) => status === 401 || status === 403);
    expect([
      ...new Set(refused.map(({ verb, resource, name }) => `${verb} ${resource} ${name}`)),
    ]).to.deep.equal(['get secrets redis']);
  });

  async function start(): Promise<void> {
    autoscaler = await installed.startReplica([
      `--secure-port=${port}`,
      '--allowed-hosts=127.0.0.0/8',
      ...[`--webhook-address=127.0.0.1:${webhookPort}`, `--webhook-cert-dir=${webhookFolder}`],
      ...[
        '--leader-elect-lease-duration=3s',
        '--leader-elect-renew-deadline=2s',
        '--leader-elect-retry-period=500ms',
      ],
    ]);
    await autoscaler.line(/Serving/, 60_000);
  }

  function scaledObject(name: string, more: object = {}): object {
    return {
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'ScaledObject',
      metadata: { name, namespace: 'default' },
      spec: {
        scaleTargetRef: { name },
        pollingInterval: 2,
        cooldownPeriod: 3,
        maxReplicaCount: 10,
        fallback: { failureThreshold: 2, replicas: 3 },
        advanced: {
          restoreToOriginalReplicaCount: true,
          horizontalPodAutoscalerConfig: { behavior: { scaleDown: { stabilizationWindowSeconds: 0 } } },
        },
        triggers: [
          {
            type: 'redis',
            metadata: {
              address: `${redis.host}:${redis.port}`,
              username: 'reader',
              listName: 'jobs',
              listLength: '10',
            },
            authenticationRef: { name: 'redis' },
          },
        ],
        ...more,
      },
    };
  }

  async function replicas(name = 'web'): Promise<number | undefined> {
    return (await installed.controlPlane.client.get<Observed>(`${DEPLOYMENTS}/${name}`)).spec.replicas;
  }

  async function condition(type: string) {
    const { status } = await installed.controlPlane.client.get<Observed>(`${SCALED_OBJECTS}/web`);
    return status?.conditions?.find((one) => one.type === type);
  }

  async function untilCondition(type: string, status: string): Promise<void> {
    await until(async () => (await condition(type))?.status === status, `${type} is ${status}`);
  }

  async function until(isMet: () => Promise<boolean>, what: string): Promise<void> {
    const startedAtMs = performance.now();
    while (!(await isMet())) {
      if (performance.now() - startedAtMs > TIMEOUT_MS) {
        const object = await installed.run('get', 'so', '--output=json').catch(String);
        throw new Error(`Never true: ${what}: ${object}\n${autoscaler.output.slice(-20).join('\n')}`);
      }
      await sleep(200);
    }
  }
});
