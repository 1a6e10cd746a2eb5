import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { freePort } from '#spec/support/free-port.ts';
import { findKubectl, Kubectl } from '#spec/support/kubectl.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { ControlPlane } from '../control-plane/control-plane.ts';
import { needControllers } from '../control-plane/need-binaries.ts';
import { issueToken } from '../real-cluster/installed-server.ts';
import { ADAPTER_ACCOUNT, ADAPTER_ARGUMENTS, adapterObjects } from './kube-metrics-adapter-objects.ts';
import { externalMetric, objectMetric, scaledByMetrics } from './scaled-by-metrics.ts';
import { deployment } from './scheduled-objects.ts';

const DEFINITIONS = ['scaling-schedule', 'cluster-scaling-schedule'].map(
  (name) => `--filename=manifests/components/scaling-schedule/${name}.yaml`,
);
const MAX_ATTEMPTS = 360;
const POLL_INTERVAL_MS = 250;

// The steps build on each other.
describe("the autoscaler in kube-metrics-adapter's own manifests, with another image and command", function () {
  this.timeout(300_000);
  this.bail(true);

  const stack = new AsyncDisposableStack();
  let controlPlane: ControlPlane;
  let kubectl: Kubectl;
  let endpoint: LoopbackServer;
  let waiting = 1;

  before(async function () {
    controlPlane = stack.use(await ControlPlane.start(await needControllers(this)));
    kubectl = new Kubectl(await findKubectl(), controlPlane.kubeconfig);
    endpoint = stack.use(
      await LoopbackServer.start((_, response) => void response.end(JSON.stringify({ waiting }))),
    );
  });

  after(async () => await stack.disposeAsync());

  it('makes both of its APIServices available', async () => {
    const port = await freePort();
    await run('apply', ...DEFINITIONS);
    await apply(...adapterObjects(port));
    const kubeconfig = join(controlPlane.folder, 'adapter.kubeconfig');
    const token = await issueToken(controlPlane, ADAPTER_ACCOUNT);
    await writeFile(kubeconfig, controlPlane.kubeconfigFor('adapter', { token }), { mode: 0o600 });
    const here = [`--kubeconfig=${kubeconfig}`, '--bind-address=127.0.0.1', `--secure-port=${port}`];
    const folder = `--cert-dir=${join(controlPlane.folder, 'adapter')}`;
    const args = ['autoscaler', ...ADAPTER_ARGUMENTS, ...here, folder, '--allowed-hosts=127.0.0.0/8'];
    const adapter = new SpawnedProgram(process.execPath, ['lib/main.ts', ...args], { name: 'the adapter' });
    await stack.use(adapter).line(/Serving/, 60_000);
    for (const name of ['custom', 'external'])
      await run(
        ...['wait', '--for=condition=Available', `apiservice/v1beta1.${name}.metrics.k8s.io`],
        '--timeout=60s',
      );
  });

  it('lets the HPA controller scale by an External metric and by a schedule', async () => {
    const config = 'metric-config.external.waiting.json-path';
    const [now, hourMs] = [Date.now(), 3_600_000];
    const schedule = { apiVersion: 'zalando.org/v1', kind: 'ScalingSchedule', name: 'rush' };
    await apply(
      {
        ...{ apiVersion: schedule.apiVersion, kind: schedule.kind },
        metadata: { name: schedule.name, namespace: 'default' },
        spec: {
          scalingWindowDurationMinutes: 0,
          schedules: [
            {
              ...{ type: 'OneTime', value: 300, date: new Date(now - 1000).toISOString() },
              endDate: new Date(now + hourMs).toISOString(),
            },
          ],
        },
      },
      deployment('rush', 1),
      scaledByMetrics('rush', {
        apiVersion: controlPlane.hpaVersion,
        annotations: { 'metric-config.object.load.scaling-schedule/interval': '2s' },
        metrics: [objectMetric('load', { averageValue: '100', describedObject: schedule })],
      }),
      deployment('mails', 1),
      scaledByMetrics('mails', {
        apiVersion: controlPlane.hpaVersion,
        annotations: {
          [`${config}/endpoint`]: endpoint.url.href,
          [`${config}/json-key`]: '$.waiting',
          [`${config}/interval`]: '2s',
        },
        metrics: [externalMetric('waiting', { averageValue: '10', matchLabels: { type: 'json-path' } })],
      }),
    );
    await untilReplicas('rush', 3);
    waiting = 35;
    await untilReplicas('mails', 4);
    waiting = 5;
    await untilReplicas('mails', 2, 1);
  });

  it('describes its APIs in the OpenAPI documents of the API server', async () => {
    const version = 'external.metrics.k8s.io/v1beta1';
    const isServed = (path: string) => run('get', '--raw', path).then(Boolean, () => false);
    // With OpenAPI v3, kubectl explains only resources with a path of their own; the metrics APIs share one path.
    const described = (await isServed('/openapi/v3'))
      ? ['get', '--raw', `/openapi/v3/apis/${version}`]
      : ['explain', 'waiting', `--api-version=${version}`, '--recursive'];
    let text = '';
    await until(`kubectl ${described.join(' ')} succeeds`, async () => {
      text = await run(...described).catch(() => '');
      return text !== '';
    });
    expect(text)
      .to.match(/ExternalMetricValueList/)
      .and.match(/metricLabels/);
  });

  it('uses the permissions of its role, and works without those that it lacks', async () => {
    const account = `system:serviceaccount:kube-system:${ADAPTER_ACCOUNT}`;
    const events = (await controlPlane.auditEvents()).filter(({ user }) => user === account);
    const refused = new Set(
      events.filter(({ status }) => status === 403).map(({ verb, resource }) => `${verb} ${resource}`),
    );
    expect([...refused]).to.deep.equal(['get leases.coordination.k8s.io']); // then every replica emits its own events
  });

  async function untilReplicas(name: string, ...any: readonly number[]): Promise<void> {
    const path = `/apis/apps/v1/namespaces/default/deployments/${name}`;
    await until(`${name} has ${any.join(' or ')} replicas`, async () => {
      const { spec } = await controlPlane.client.get<{ readonly spec: { readonly replicas: number } }>(path);
      return any.includes(spec.replicas);
    });
  }

  async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
    for (let checks = 0; !(await condition()); checks++) {
      if (checks === MAX_ATTEMPTS) throw new Error(`Never true: ${what}\n${await run('describe', 'hpa')}`);
      await sleep(POLL_INTERVAL_MS);
    }
  }

  async function apply(...objects: readonly object[]): Promise<void> {
    const path = join(controlPlane.folder, 'applied.json');
    await writeFile(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
    await run('apply', '--filename', path);
  }

  async function run(...args: readonly string[]): Promise<string> {
    const { stdout, stderr, exitStatus } = await kubectl.run(args, 60_000);
    if (exitStatus !== 0) throw new Error(`Cannot run kubectl ${args.join(' ')}: ${stderr.trim()}`);
    return stdout;
  }
});
