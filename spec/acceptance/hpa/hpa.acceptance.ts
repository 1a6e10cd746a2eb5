import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { requestHttps } from '#spec/support/https-request.ts';
import type { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { InstalledAutoscaler } from '../autoscaler/installed-autoscaler.ts';
import { needControllers } from '../control-plane/need-binaries.ts';
import { ReadyPods } from './ready-pods.ts';
import { APPS, FLEET_SIZE, fleetDeployment, fleetHpa, hpaOf, STEPS, totalOf } from './scaled-fleet.ts';
import { ScriptedMetrics } from './scripted-metrics.ts';

const ACCOUNT = 'system:serviceaccount:kube-system:autoscaler';
const NAMESPACES = ['native', 'ours'] as const;
/** Flags of the native HPA controller in this control plane. */
const RULES = [
  '--horizontal-pod-autoscaler-downscale-stabilization=1s',
  '--horizontal-pod-autoscaler-cpu-initialization-period=1s',
  '--horizontal-pod-autoscaler-initial-readiness-delay=1s',
];
const SYNC = '--horizontal-pod-autoscaler-sync-period=2s';
const HERE = [
  ...['--enable-custom-metrics-api=false', '--enable-external-metrics-api=false'],
  '--authorization-always-allow-paths=/debug/hpa,/livez,/readyz',
];
const SHORT_LEASE = [
  ...['--leader-elect-lease-duration=3s', '--leader-elect-renew-deadline=2s'],
  '--leader-elect-retry-period=500ms',
];
/** After three periods without a change, the replicas are stable. */
const SETTLED_MS = 7_000;

type Counts = Readonly<Record<string, number>>;

// The steps build on each other.
describe("the HPA controller, beside and in place of Kubernetes' own", function () {
  this.timeout(300_000);
  this.bail(true);

  const stack = new AsyncDisposableStack();
  let installed: InstalledAutoscaler;
  let metrics: ScriptedMetrics;
  let pods: ReadyPods;
  const native: Counts[] = [];
  const replicas = new Set<SpawnedProgram>();

  before(async function () {
    installed = stack.use(await InstalledAutoscaler.start(await needControllers(this), 'autoscaler-hpa'));
    const { client } = installed.controlPlane;
    pods = stack.use(new ReadyPods(client, NAMESPACES));
    metrics = stack.use(await ScriptedMetrics.start(pods));
    await exposeMetrics();
    for (const name of NAMESPACES) await installed.run('create', 'namespace', name);
  });

  after(() => stack.disposeAsync());

  it("agrees with Kubernetes' own in a dry run beside it, in all steps of the load", async () => {
    const program = await start([SYNC, ...RULES, '--dry-run']);
    await deployFleet('native');
    for (const step of STEPS.keys()) {
      native.push(await settledAt(step, 'native'));
      const decisions = await latestDecisions(program);
      expect(decisions).to.have.lengthOf(FLEET_SIZE);
      expect(
        decisions.filter(({ latest }) => latest.agrees !== true),
        `step ${step}`,
      ).to.deep.equal([]);
    }
    await stop(program);
  });

  it('scales the same HPAs under the same loads to the same replicas', async () => {
    await installed.controlPlane.leaveHpasAlone();
    await installed.run('delete', 'hpa', '--all', '--namespace=native');
    await installed.run('scale', 'deployment', '--all', '--replicas=0', '--namespace=native');
    const program = await start([SYNC, ...RULES]);
    await deployFleet('ours');
    for (const [step, expected] of native.entries())
      expect(await settledAt(step, 'ours'), `step ${step}`).to.deep.equal(expected);
    expect(new Set(native.flatMap((counts) => Object.values(counts))).size, 'they do scale').to.be.above(5);
    await stop(program);
  });

  it('scales a Deployment within six seconds if its HPA has a sync period of five', async () => {
    await start([...RULES, ...SHORT_LEASE, '--horizontal-pod-autoscaler-sync-period=1h']);
    await apply('quick', { annotations: { 'platform.stke/resync-period': '5s' }, maxReplicas: 10 });
    await within(20_000, 'the HPA is decided', async () => (await specOf('quick')) === 1);
    for (const [place, load] of [4, 7, 2].entries()) {
      await sleep(1_100 * place); // at a different offset within the period
      setLoad('quick', load);
      const changedAtMs = Date.now();
      await within(20_000, `quick has ${load}`, async () => (await specOf('quick')) === load);
      expect(Date.now() - changedAtMs, `${load} replicas`).to.be.below(6_000);
    }
  });

  it('continues a stabilization window during which its leader is killed', async () => {
    await start([...RULES, ...SHORT_LEASE, '--horizontal-pod-autoscaler-sync-period=1h']);
    const behavior = { scaleDown: { stabilizationWindowSeconds: WINDOW_S } };
    const annotations = { 'platform.stke/resync-period': '1s' };
    setLoad('held', 6);
    await apply('held', { annotations, maxReplicas: 10, behavior });
    await within(20_000, 'held has 6', async () => (await specOf('held')) === 6);
    await sleep(3_000);
    setLoad('held', 2);
    const fellAtMs = Date.now();
    await sleep((WINDOW_S * 1000) / 2);
    expect(await specOf('held')).to.equal(6);
    const leader = await leaderOf();
    leader.kill('SIGKILL');
    await leader.ended;
    replicas.delete(leader);
    await within(60_000, 'held has 2', async () => (await specOf('held')) === 2);
    // The last high recommendation is at most one period older than the drop of the load. A new leader without it would
    // start a new window.
    expect((Date.now() - fellAtMs) / 1000).to.be.within(WINDOW_S - 1.5, WINDOW_S + 3);
  });

  it('needs no other permissions', async () => {
    const events = (await installed.controlPlane.auditEvents()).filter(({ user }) => user === ACCOUNT);
    expect(events.filter(({ status }) => status === 401 || status === 403)).to.deep.equal([]);
    const used = new Set(events.map(({ verb, resource }) => `${verb} ${resource}`));
    expect([...used]).to.include.members([
      ...['list horizontalpodautoscalers.autoscaling', 'watch horizontalpodautoscalers.autoscaling'],
      ...['update horizontalpodautoscalers/status.autoscaling', 'update deployments/scale.apps'],
      ...['list deployments.apps', 'list pods', 'list pods.metrics.k8s.io'],
      ...['create configmaps', 'get configmaps', 'update configmaps'],
    ]);
  });

  const WINDOW_S = 16;

  async function start(flags: readonly string[]): Promise<SpawnedProgram> {
    const program = await installed.startReplica([...HERE, ...flags]);
    replicas.add(program);
    await program.line(/Serving/, 30_000);
    return program;
  }

  async function stop(program: SpawnedProgram): Promise<void> {
    replicas.delete(program);
    await program[Symbol.asyncDispose]();
  }

  async function leaderOf(): Promise<SpawnedProgram> {
    const find = () => [...replicas].find(({ output }) => output.some((line) => /Elected leader/.test(line)));
    await within(30_000, 'a replica leads', async () => find() !== undefined);
    return find() as SpawnedProgram;
  }

  async function exposeMetrics(): Promise<void> {
    const service = { name: 'scripted-metrics', namespace: 'kube-system', port: metrics.port };
    const external = ['externalname', service.name, '--namespace=kube-system', '--external-name=localhost'];
    await installed.run('create', 'service', ...external);
    const versions = [
      ...['v1beta1.metrics.k8s.io', 'v1beta1.custom.metrics.k8s.io', 'v1beta2.custom.metrics.k8s.io'],
      'v1beta1.external.metrics.k8s.io',
    ];
    const apiServices = versions.map((name) => {
      const [version, ...group] = name.split('.');
      const spec = { group: group.join('.'), version, service, insecureSkipTLSVerify: true };
      const priorities = { groupPriorityMinimum: 100, versionPriority: 100 };
      return {
        ...{ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name } },
        spec: { ...spec, ...priorities },
      };
    });
    await installed.apply(...apiServices);
    for (const name of versions)
      await installed.run('wait', '--for=condition=Available', `apiservice/${name}`, '--timeout=60s');
  }

  async function deployFleet(namespace: string): Promise<void> {
    metrics.loads = loadsOf(0);
    const apiVersion = installed.controlPlane.hpaVersion;
    await installed.apply(
      ...APPS.map((name) => fleetDeployment(name, namespace)),
      ...APPS.map((name, index) => fleetHpa(name, namespace, { index, apiVersion })),
    );
  }

  /** Sets the load of a step, and waits until the replicas are stable. */
  async function settledAt(step: number, namespace: string): Promise<Counts> {
    metrics.loads = loadsOf(step);
    let counts: Counts = {};
    let sinceMs = Date.now();
    await within(90_000, `step ${step} settles in ${namespace}`, async () => {
      const observed = await countsOf(namespace);
      if (JSON.stringify(observed) !== JSON.stringify(counts)) [counts, sinceMs] = [observed, Date.now()];
      const ready = Object.values(observed).reduce((sum, count) => sum + count, 0);
      return pods.of(namespace).length === ready && Date.now() - sinceMs > SETTLED_MS;
    });
    return counts;
  }

  async function countsOf(namespace: string): Promise<Counts> {
    const { client } = installed.controlPlane;
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    const { items } = await client.get<{ readonly items: readonly Deployed[] }>(path);
    return Object.fromEntries(items.map(({ metadata, spec }) => [metadata.name, spec.replicas]));
  }

  async function specOf(name: string): Promise<number | undefined> {
    return (await countsOf('ours'))[name];
  }

  async function apply(name: string, spec: Readonly<Record<string, unknown>>): Promise<void> {
    const apiVersion = installed.controlPlane.hpaVersion;
    const hpa = hpaOf(name, 'ours', { apiVersion, minReplicas: 1, metrics: [totalOf(name)], ...spec });
    await installed.apply(fleetDeployment(name, 'ours'), hpa);
  }

  function setLoad(name: string, load: number): void {
    metrics.loads = new Map(metrics.loads).set(name, load);
  }

  function loadsOf(step: number): Map<string, number> {
    return new Map(APPS.map((name, place) => [name, STEPS[step]?.(place) ?? 0]));
  }

  async function latestDecisions({ output }: SpawnedProgram): Promise<readonly InShort[]> {
    const [, port] = /Serving.*port="?(\d+)/.exec(output.find((line) => /Serving/.test(line)) ?? '') ?? [];
    const url = `https://127.0.0.1:${port}/debug/hpa?format=json`;
    const { body } = await requestHttps(url, { rejectUnauthorized: false });
    return (JSON.parse(body) as { readonly hpas: readonly InShort[] }).hpas;
  }

  async function within(timeoutMs: number, what: string, condition: () => Promise<boolean>): Promise<void> {
    const deadlineMs = Date.now() + timeoutMs;
    while (!(await condition())) {
      if (Date.now() > deadlineMs) {
        const words = [...replicas]
          .map(({ name, output }) => [name, ...output.slice(-10)].join('\n'))
          .join('\n');
        throw new Error(`Never true: ${what}\n${words}`);
      }
      await sleep(100);
    }
  }
});

interface Deployed {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly replicas: number };
}

interface InShort {
  readonly namespace: string;
  readonly name: string;
  readonly latest: { readonly agrees?: boolean; readonly desiredReplicas?: number };
}
