import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { freePort } from '#spec/support/free-port.ts';
import { needControllers } from '../control-plane/need-binaries.ts';
import { PodAgent } from '../real-cluster/pod-agent.ts';
import { SimulatedNodes } from '../real-cluster/simulated-nodes.ts';
import { InstalledAutoscaler } from './installed-autoscaler.ts';
import { serveResourceMetrics } from './served-resource-metrics.ts';

const ACCOUNTS = ['autoscaler', 'metrics-server'].map((name) => `system:serviceaccount:kube-system:${name}`);
const TIMEOUT_MS = 120_000;
const MEBIBYTE = 2 ** 20;

const CPU = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
};
const MEMORY = {
  type: 'Resource',
  resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '64Mi' } },
};

// The steps build on each other.
describe('ScaledObjects by CPU and memory, with the real HPA controller', function () {
  this.timeout(300_000);
  this.bail(true);

  const stack = new AsyncDisposableStack();
  let installed: InstalledAutoscaler;
  let pods: PodAgent;

  before(async function () {
    const binaries = await needControllers(this);
    installed = stack.use(await InstalledAutoscaler.start(binaries, 'autoscaler-scaled-objects'));
    await installed.apply(workload('Deployment', 'busy'), workload('StatefulSet', 'large'));
    const { controlPlane } = installed;
    const nodes = stack.use(await SimulatedNodes.start(controlPlane, 2));
    pods = stack.use(new PodAgent(controlPlane.client, { nodes, namespace: 'default' }));
    pods.setWork('busy', { cpuMillicores: 200, memoryBytes: 16 * MEBIBYTE });
    pods.setWork('large', { cpuMillicores: 10, memoryBytes: 192 * MEBIBYTE });
    const port = await freePort();
    await installed.expose(port);
    const autoscaler = await installed.startReplica([`--secure-port=${port}`]);
    await serveResourceMetrics(installed, stack);
    await autoscaler.line(/Serving/, 60_000);
  });

  after(() => stack.disposeAsync());

  it('create HPAs with the triggers as Resource metrics', async () => {
    await installed.apply(
      scaledObject('busy', {
        ...{ kind: 'Deployment', maxReplicaCount: 4 },
        trigger: { type: 'cpu', metricType: 'Utilization', metadata: { value: '50' } },
      }),
      scaledObject('large', {
        ...{ kind: 'StatefulSet', maxReplicaCount: 3 },
        trigger: { type: 'memory', metricType: 'AverageValue', metadata: { value: '64Mi' } },
      }),
    );
    const metrics = async (name: string) => (await hpaOf(name)).spec.metrics;
    await until('there are HPAs', async () => (await metrics('busy')) && (await metrics('large')) && true);
    expect(await metrics('busy')).to.deep.equal([CPU]);
    expect(await metrics('large')).to.deep.equal([MEMORY]);
  });

  it('scale a Deployment from 1 to 4 by CPU, and a StatefulSet to 3 by memory', async () => {
    await until('busy has 4 replicas', async () => (await readyOf('deployment', 'busy')) === 4);
    await until('large has 3 replicas', async () => (await readyOf('statefulset', 'large')) === 3);
    const events = await installed.run('get', 'events', '--output=json');
    const { items } = JSON.parse(events) as { readonly items: readonly Reported[] };
    const reported = items
      .filter(({ source }) => source.component === 'horizontal-pod-autoscaler')
      .map(({ involvedObject, message }) => `${involvedObject.name}: ${message}`)
      .join('\n');
    const byCpu = /^keda-hpa-busy: New size: \d; reason: cpu resource utilization \(.*\) above target$/m;
    expect(reported).to.match(byCpu);
    expect(reported).to.match(/^keda-hpa-large: New size: \d; reason: memory resource above target$/m);
  });

  it('scale back to 1 when CPU and memory are no longer used', async () => {
    pods.setWork('busy', { cpuMillicores: 20, memoryBytes: 16 * MEBIBYTE });
    pods.setWork('large', { cpuMillicores: 10, memoryBytes: 16 * MEBIBYTE });
    // No scale-down happens before the new pods report low usage.
    await until('busy has 1 replica', async () => (await readyOf('deployment', 'busy')) === 1);
    await until('large has 1 replica', async () => (await readyOf('statefulset', 'large')) === 1);
  });

  it('need no other permissions, nor does metrics-server', async () => {
    const events = await installed.controlPlane.auditEvents();
    const requested = events.filter(({ user }) => ACCOUNTS.includes(user));
    expect(new Set(requested.map(({ user }) => user))).to.have.keys(ACCOUNTS);
    const refused = requested.filter(({ status }) => status === 401 || status === 403);
    expect(refused.map(({ user, verb, resource }) => `${user}: ${verb} ${resource}`)).to.deep.equal([]);
  });

  async function hpaOf(name: string): Promise<Hpa> {
    const { hpaVersion } = installed.controlPlane;
    const path = `/apis/${hpaVersion}/namespaces/default/horizontalpodautoscalers/keda-hpa-${name}`;
    return await installed.controlPlane.client.get<Hpa>(path);
  }

  async function readyOf(kind: 'deployment' | 'statefulset', name: string): Promise<number | undefined> {
    const path = `/apis/apps/v1/namespaces/default/${kind}s/${name}`;
    const { spec, status } = await installed.controlPlane.client.get<Scaled>(path);
    return spec.replicas === status?.readyReplicas ? spec.replicas : undefined;
  }

  async function until(what: string, condition: () => Promise<boolean | undefined>): Promise<void> {
    const deadlineMs = performance.now() + TIMEOUT_MS;
    while (!(await condition().catch(() => false))) {
      if (pods.failure) throw pods.failure;
      if (performance.now() > deadlineMs) {
        const objects = await installed.run('get', 'so,hpa,pods', '--output=yaml').catch(String);
        throw new Error(`Never true: ${what}: ${objects}`);
      }
      await sleep(250);
    }
  }
});

interface Hpa {
  readonly spec: { readonly metrics?: readonly object[] };
}

interface Scaled {
  readonly spec: { readonly replicas: number };
  readonly status?: { readonly readyReplicas?: number };
}

interface Reported {
  readonly message: string;
  readonly involvedObject: { readonly name: string };
  readonly source: { readonly component?: string };
}

/** A workload with one replica that requests 100 m of CPU. */
function workload(kind: 'Deployment' | 'StatefulSet', name: string): object {
  const labels = { app: name };
  const resources = { requests: { cpu: '100m', memory: '64Mi' } };
  const containers = [{ name: 'app', image: 'registry.example/app:v1', resources }];
  return {
    ...{ apiVersion: 'apps/v1', kind, metadata: { name, namespace: 'default' } },
    spec: {
      replicas: 1,
      ...(kind === 'StatefulSet' ? { serviceName: name } : {}),
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}

function scaledObject(
  name: string,
  { kind, maxReplicaCount, trigger }: { kind: string; maxReplicaCount: number; trigger: object },
): object {
  return {
    ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name, namespace: 'default' } },
    spec: {
      ...{ scaleTargetRef: { apiVersion: 'apps/v1', kind, name }, minReplicaCount: 1, maxReplicaCount },
      triggers: [trigger],
    },
  };
}
