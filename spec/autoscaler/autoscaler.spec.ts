import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { type Autoscaler, startAutoscaler } from '#lib/autoscaler/autoscaler.ts';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import { versionInfo } from '#lib/program.ts';
import type { Clock } from '#lib/time/clock.ts';
import { readDefinition } from '#spec/support/definition-file.ts';
import { eventually } from '#spec/support/eventually.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { type SimulatedApiServer, startLiveApiServer } from '#spec/support/simulated-api-server.ts';

const CRD = () => readDefinition('cron-horizontal-pod-autoscaler');
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const CRON_HPAS = '/apis/autoscaling.stke.com/v1beta1/namespaces/default/cronhorizontalpodautoscalers';
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/autoscaler';

/** Uses the system's clock, so that leases and deadlines expire while sockets are busy. */
describe('startAutoscaler', () => {
  let server: SimulatedApiServer<Clock>;
  let logger: RecordingLogger;

  beforeEach(() => {
    logger = new RecordingLogger();
  });

  afterEach(() => server[Symbol.asyncDispose]());

  it('waits for the definition, and scales by the clock once it is installed', async () => {
    server = await startLiveApiServer();
    await using autoscaler = await start('a', '--controllers=cronhpa');
    expect(reported('Nothing to do')).to.equal(0);
    await eventually(() => reported('Waiting for a kind') > 0);
    expect(await status('/readyz', autoscaler)).to.equal(200);
    await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', CRD());
    await deploy('web', 1);
    await schedule('web', { name: 'up', schedule: '* * * * * *', targetSize: 4 });
    await eventually(async () => (await server.client.get(`${CRON_HPAS}/web`)).body.status !== undefined);
    await eventually(async () => (await replicas('web')) === 4);
    await eventually(async () => (await events()).some(({ reason }) => reason === 'Scaled'));
    const { jobs, sets } = JSON.parse(
      (await get('/debug/cronhpas?namespace=default&name=web', autoscaler)).body,
    );
    expect(sets).to.deep.equal({
      what: 'replicas',
      of: 'web',
      why: 'no HorizontalPodAutoscaler scales Deployment "web"',
    });
    expect(jobs[0]).to.include({ name: 'up', targetSize: 4, state: 'Succeed' });
    const list = JSON.parse((await get('/debug/cronhpas', autoscaler)).body);
    expect(list).to.deep.include({ total: 1, ready: 1 });
    expect(list.items[0]).to.include({ name: 'web', target: 'Deployment web', lastResult: 'Succeed up' });
    expect(JSON.parse((await get('/debug/cronhpas?limit=0', autoscaler)).body).items).to.deep.equal([]);
    expect(await status('/debug/cronhpas?namespace=default&name=none', autoscaler)).to.equal(404);
    expect(await status('/debug/cronhpas?name=web', autoscaler)).to.equal(400);
    expect(await status('/debug/cronhpas?limit=all', autoscaler)).to.equal(400);
    expect(reported('Waiting for a kind')).to.equal(1);
  });

  it('runs controllers in one of two replicas, and in the other after the first has ended', async () => {
    server = await startLiveApiServer({ definitions: [CRD()] });
    const first = await start('a', '--controllers=cronhpa');
    await eventually(() => first.isLeader);
    await using second = await start('b', '--controllers=cronhpa');
    const acquired = (await lease()).spec.renewTime;
    await eventually(async () => (await lease()).spec.renewTime !== acquired); // it has been renewed meanwhile
    expect([first.isLeader, second.isLeader]).to.deep.equal([true, false]);
    await first[Symbol.asyncDispose]();
    await eventually(() => second.isLeader);
    expect((await lease()).spec.holderIdentity).to.equal('b');
    expect((await get('/debug/controllers?namespace=a', second)).status).to.equal(400);
    const debug = await get('/debug/controllers', second);
    const { leaderSince, startedAt, ...reported } = JSON.parse(debug.body);
    expect(reported).to.deep.equal({ identity: 'b', isLeader: true, leader: 'b', controllers: ['cronhpa'] });
    expect(Date.parse(leaderSince)).to.be.at.least(Date.parse(startedAt));
    expect(leaderSince).to.equal((await lease()).spec.acquireTime);
  });

  it('serves health and series without controllers, and takes no part in elections', async () => {
    server = await startLiveApiServer();
    const autoscaler = await start('a', '--controllers=');
    expect(logger.lines).to.deep.include({
      ...{ level: 'info', fields: {}, verbosity: 0 },
      message: 'Serving metrics APIs without controllers: --controllers enables none',
    });
    expect(await status('/healthz', autoscaler)).to.equal(200);
    expect((await get('/metrics', autoscaler)).body).to.contain('process_cpu_seconds_total');
    await autoscaler[Symbol.asyncDispose](); // waits for operations in progress
    expect((await server.client.get(LEASE)).status).to.equal(404);
  });

  it('warns when flags leave nothing to do', async () => {
    server = await startLiveApiServer();
    const off = ['--enable-custom-metrics-api=false', '--enable-external-metrics-api=false'];
    await using _autoscaler = await start('a', '--controllers=', ...off);
    expect(logger.lines).to.deep.include({
      ...{ level: 'warning', fields: {}, verbosity: 0 },
      message: 'Nothing to do: --controllers enables no controller, and no metrics API is served',
    });
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

  async function lease(): Promise<ReturnType<typeof JSON.parse>> {
    return (await server.client.get(LEASE)).body;
  }

  function reported(beginning: string): number {
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
