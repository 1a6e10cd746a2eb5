import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { requireProgram } from '#spec/support/machine-programs.ts';
import { type RealRedis, startRedis } from '#spec/support/real-redis.ts';
import type { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { needControllers } from '../control-plane/need-binaries.ts';
import { InstalledAutoscaler } from './installed-autoscaler.ts';
import { WorkingPods } from './working-pods.ts';

const JOBS = '/apis/batch/v1/namespaces/default/jobs?labelSelector=scaledjob.keda.sh/name=work';
const MESSAGES = 200;
const TIMEOUT_MS = 240_000;
const ELECTION = [
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];

interface JobList {
  readonly items: readonly {
    readonly metadata: { readonly uid: string };
    readonly status?: { readonly conditions?: readonly { readonly type: string }[] };
  }[];
}

// The steps build on each other.
describe('ScaledJobs, on a real API server with the real Job controller', function () {
  this.timeout(600_000);
  this.bail(true);

  const stack = new AsyncDisposableStack();
  let installed: InstalledAutoscaler;
  let redis: RealRedis;
  let pods: WorkingPods;
  let autoscaler: SpawnedProgram;

  before(async function () {
    const binaries = await needControllers(this);
    redis = stack.use(await startRedis(await requireProgram(this, 'redis-server')));
    installed = stack.use(await InstalledAutoscaler.start(binaries, 'autoscaler-scaled-objects'));
    const take = async () => (await redis.send('LPOP', 'messages')) !== null;
    pods = stack.use(new WorkingPods(installed.controlPlane, take));
    autoscaler = await start();
  });

  after(() => stack.disposeAsync());

  it('create no Job that the API server would refuse, and report the cause', async () => {
    await installed.apply(scaledJob('broken', { parallelism: -1 }));
    await until(async () => (await ready('broken')).startsWith('False'), 'broken is refused');
    expect(await ready('broken')).to.equal(
      'False ScaledJobCheckFailed Failed to ensure ScaledJob is correctly created',
    );
    const events = await installed.run('get', 'events', '--output=json');
    expect(events).to.include('spec.parallelism');
    await installed.run('delete', 'sj', 'broken', '--timeout=60s');
  });

  it(`complete exactly ${MESSAGES} Jobs for as many messages, although the autoscaler is killed twice`, async () => {
    await fill(MESSAGES / 2);
    await installed.apply(scaledJob('work'));
    await until(async () => pods.startedCount >= 20, '20 pods were started');
    await killAndStart();
    await fill(MESSAGES / 2);
    await until(async () => pods.startedCount >= 120, '120 pods were started');
    await killAndStart();
    await until(async () => (await completed()) === MESSAGES, `${MESSAGES} Jobs are complete`);
    await sleep(5000); // two polls of an empty queue
    expect(await redis.send('LLEN', 'messages')).to.equal(0);
    expect((await installed.controlPlane.client.get<JobList>(JOBS)).items).to.have.lengthOf(MESSAGES);
    expect(pods.startedCount).to.equal(MESSAGES);
    expect(pods.idleCount, 'pods without a message').to.equal(0);
  });

  it('are shown by kubectl get', async () => {
    const [head = ''] = (await installed.run('get', 'sj', 'work')).trim().split('\n');
    expect(head.trim().split(/\s+/)).to.deep.equal(
      'NAME MIN MAX READY ACTIVE PAUSED TRIGGERS AUTHENTICATIONS AGE'.split(' '),
    );
    await until(async () => (await active()) === 'False', 'work is not active any more');
    const line = (await installed.run('get', 'sj', 'work', '--no-headers')).trim();
    expect(line.split(/\s+/).slice(0, -1).join(' ')).to.equal('work 40 True False False redis');
  });

  it('delete completed Jobs beyond the history limits', async () => {
    await installed.run('patch', 'sj', 'work', '--type=merge', '--patch', JSON.stringify(LESS_HISTORY));
    await until(async () => (await completed()) === 10, '10 Jobs are left');
  });

  it('delete their Jobs when they are deleted', async () => {
    await installed.run('delete', 'sj', 'work', '--timeout=60s');
    await until(async () => (await completed()) === 0, 'no Job is left');
  });

  async function start(): Promise<SpawnedProgram> {
    const started = await installed.startReplica(['--allowed-hosts=127.0.0.0/8', ...ELECTION]);
    await started.line(/Serving/, 60_000);
    return started;
  }

  async function killAndStart(): Promise<void> {
    autoscaler.kill('SIGKILL');
    await autoscaler.ended;
    autoscaler = await start();
  }

  async function fill(count: number): Promise<void> {
    for (let message = 0; message < count; message++) await redis.send('RPUSH', 'messages', `${message}`);
  }

  function scaledJob(name: string, job: object = {}): object {
    const containers = [{ name: 'worker', image: 'registry.example/worker:v1' }];
    return {
      apiVersion: 'keda.sh/v1alpha1',
      kind: 'ScaledJob',
      metadata: { name, namespace: 'default' },
      spec: {
        jobTargetRef: { ...job, template: { spec: { restartPolicy: 'Never', containers } } },
        pollingInterval: 2,
        maxReplicaCount: 40,
        rollout: { strategy: 'gradual' }, // history limits apply to Jobs of any generation
        successfulJobsHistoryLimit: MESSAGES,
        triggers: [
          {
            type: 'redis',
            metadata: { address: `${redis.host}:${redis.port}`, listName: 'messages', listLength: '1' },
          },
        ],
      },
    };
  }

  async function completed(): Promise<number> {
    const { items } = await installed.controlPlane.client.get<JobList>(JOBS);
    return items.filter(({ status }) => status?.conditions?.some(({ type }) => type === 'Complete')).length;
  }

  async function condition(name: string, type: string, field: string): Promise<string> {
    const path = `{range .status.conditions[?(@.type=="${type}")]}${field}{end}`;
    return await installed.run('get', 'sj', name, `--output=jsonpath=${path}`);
  }

  const ready = (name: string) => condition(name, 'Ready', '{.status} {.reason} {.message}');
  const active = () => condition('work', 'Active', '{.status}');

  async function until(isMet: () => Promise<boolean>, what: string): Promise<void> {
    const startedAtMs = performance.now();
    while (!(await isMet())) {
      if (performance.now() - startedAtMs > TIMEOUT_MS) {
        const object = await installed.run('get', 'sj', '--output=json').catch(String);
        throw new Error(
          `Never true: ${what}; ${pods.startedCount} pods were started: ${object}\n${autoscaler.output.slice(-20).join('\n')}`,
        );
      }
      await sleep(200);
    }
  }
});

const LESS_HISTORY = { spec: { successfulJobsHistoryLimit: 10 } };
