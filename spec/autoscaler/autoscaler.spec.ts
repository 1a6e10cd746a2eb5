import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { type Autoscaler, startAutoscaler } from '#lib/autoscaler/autoscaler.ts';
import { parseAutoscalerOptions } from '#lib/autoscaler/options.ts';
import { versionInfo } from '#lib/version.ts';
import { eventually } from '#spec/support/eventually.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const CRD = () => parse(readFileSync('manifests/crds/cron-horizontal-pod-autoscaler.yaml', 'utf8'));
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const CRON_HPAS = '/apis/autoscaling.stke.com/v1beta1/namespaces/default/cronhorizontalpodautoscalers';
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/autoscaler';

const LIVE_STEP_MS = 500;

describe('startAutoscaler', function () {
  this.timeout(60_000);
  let server: SimulatedApiServer;
  let logger: RecordingLogger;

  beforeEach(() => {
    logger = new RecordingLogger();
  });

  afterEach(() => server[Symbol.asyncDispose]());

  it('waits for the definition, says so once, and scales by the clock once it is there', async () => {
    server = await startSimulatedApiServer({ clock: new ManualClock(Date.parse('2026-07-15T07:58:00Z')) });
    await using _ = await start('a');
    await passes(() => told('Waiting for a kind') > 0);
    await live(30_000);
    expect(told('Waiting for a kind')).to.equal(1);
    expect(await status('/readyz', _)).to.equal(200);
    await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', CRD());
    await deploy('web', 1);
    await schedule('web', { name: 'up', schedule: '0 0 8 * * *', targetSize: 4 });
    await passes(async () => (await server.client.get(`${CRON_HPAS}/web`)).body.status !== undefined, 1000);
    await passes(async () => (await replicas('web')) === 4, 1000);
    await passes(async () => (await events()).some(({ reason }) => reason === 'Scaled'), 1000);
  });

  it('has one of two act, and the other once the first has ended', async () => {
    server = await startSimulatedApiServer({
      clock: new ManualClock(Date.parse('2026-07-15T07:50:00Z')),
      definitions: [CRD()],
    });
    const first = await start('a');
    await passes(() => first.isLeader);
    await using second = await start('b');
    await live(60_000);
    expect([first.isLeader, second.isLeader]).to.deep.equal([true, false]);
    await first[Symbol.asyncDispose]();
    await passes(() => second.isLeader, 500);
    expect((await server.client.get(LEASE)).body.spec.holderIdentity).to.equal('b');
    const debug = await get('/debug/controllers', second);
    expect(JSON.parse(debug.body)).to.deep.equal({
      identity: 'b',
      isLeader: true,
      leader: 'b',
      controllers: ['cronhpa'],
    });
  });

  it('serves health and series, and takes no part in elections without a controller', async () => {
    server = await startSimulatedApiServer();
    await using autoscaler = await start('a', '--controllers=');
    expect(await status('/healthz', autoscaler)).to.equal(200);
    expect((await get('/metrics', autoscaler)).body).to.contain('process_cpu_seconds_total');
    await live(60_000);
    expect((await server.client.get(LEASE)).status).to.equal(404);
  });

  async function start(identity: string, ...flags: readonly string[]): Promise<Autoscaler> {
    const commandLine = parseAutoscalerOptions([
      ...[
        '--bind-address=127.0.0.1',
        '--secure-port=0',
        `--cert-dir=${join(dirname(server.kubeconfig), identity)}`,
      ],
      ...['--authorization-always-allow-paths=*', ...flags],
    ]);
    if (commandLine.kind !== 'run') throw new Error('It is to run');
    return await startAutoscaler(commandLine.options, {
      access: await server.access(),
      clock: server.clock,
      logger,
      version: versionInfo(process),
      identity,
    });
  }

  /** Lets sockets go on, and time where it is said how much of it at once, until something holds. */
  async function passes(holds: () => boolean | Promise<boolean>, stepMs = 0): Promise<void> {
    await eventually(async () => {
      await server.clock.advance(stepMs);
      return await holds();
    });
  }

  /** Lets time go on, and requests in between: none of them may seem to be late. */
  async function live(durationMs: number): Promise<void> {
    for (let leftMs = durationMs; leftMs > 0; leftMs -= LIVE_STEP_MS) {
      await server.clock.advance(LIVE_STEP_MS);
      for (let count = 0; count < 3; count++) await server.client.get(LEASE);
    }
  }

  function told(beginning: string): number {
    return logger.lines.filter(({ message }) => message.startsWith(beginning)).length;
  }

  function get(path: string, { address }: Autoscaler) {
    return requestHttps(`https://127.0.0.1:${address.port}${path}`, { rejectUnauthorized: false });
  }

  async function status(path: string, autoscaler: Autoscaler): Promise<number> {
    return (await get(path, autoscaler)).status;
  }

  async function create(path: string, body: object): Promise<void> {
    const response = await server.client.post(path, body);
    expect(response.status, JSON.stringify(response.body)).to.equal(201);
  }

  async function deploy(name: string, count: number): Promise<void> {
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } };
    const spec = { replicas: count, selector: { matchLabels: labels }, template };
    await create(DEPLOYMENTS, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec });
  }

  async function schedule(name: string, job: object): Promise<void> {
    await create(CRON_HPAS, {
      apiVersion: 'autoscaling.stke.com/v1beta1',
      kind: 'CronHorizontalPodAutoscaler',
      metadata: { name },
      spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name }, jobs: [job] },
    });
  }

  async function replicas(name: string): Promise<number> {
    return (await server.client.get(`${DEPLOYMENTS}/${name}`)).body.spec.replicas;
  }

  async function events(): Promise<readonly { reason: string }[]> {
    return (await server.client.get('/api/v1/namespaces/default/events')).body.items;
  }
});
