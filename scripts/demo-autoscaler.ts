// Shows the autoscaler in a simulated cluster, with the real kubectl: Deployments follow a schedule of seconds, and an
// HTTP queue and a gRPC scaler of this process: from 0 to 1 by ScaledObjects, further by their HPAs, and back to 0.
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AutoscalerSystem, startAutoscalerSystem } from '#spec/support/autoscaler-system.ts';
import { ExternalScalerServer } from '#spec/support/external-scaler-server.ts';
import { findKubectl, Kubectl } from '#spec/support/kubectl.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';
import { runDemo } from './run-demo.ts';

const STEP_MS = 9000;
const FLAGS = [
  '--controllers=cronhpa,hpa,scaledobjects',
  '--horizontal-pod-autoscaler-sync-period=2s',
  '--allowed-hosts=127.0.0.0/8',
];

const deployment = (name: string, replicas: number) => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: ${name} } }
  template:
    metadata: { labels: { app: ${name} } }
    spec: { containers: [{ name: nginx, image: nginx }] }
`;

const SCHEDULE = `apiVersion: autoscaling.stke.com/v1beta1
kind: CronHorizontalPodAutoscaler
metadata:
  name: web
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: web }
  jobs:
    - { name: scale-up, schedule: '0/20 * * * * *', targetSize: 5 }
    - { name: scale-down, schedule: '10/20 * * * * *', targetSize: 2 }
`;

const scaledObject = (name: string, trigger: string) => `apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: ${name}
spec:
  scaleTargetRef: { name: ${name} }
  pollingInterval: 1
  cooldownPeriod: 4
  triggers:
    - ${trigger}
`;

await runDemo(demonstrate);

async function demonstrate(signal: AbortSignal): Promise<void> {
  console.log('Simulating a cluster of 2 nodes, and starting an autoscaler in it.');
  await using queue = await startQueue();
  await using scaler = await ExternalScalerServer.start(parcels(0));
  await using system = await startAutoscalerSystem({
    ...{ signal, flags: FLAGS, servesMetrics: true },
    prepare: defineScaledObjects,
  });
  await using folder = await TemporaryDirectory.create();
  const orders = scaledObject(
    'orders',
    `{ type: metrics-api, metadata: { url: '${queue.url}', valueLocation: waiting, targetValue: '5' } }`,
  );
  const pushed = scaledObject(
    'parcels',
    `{ type: external-push, metadata: { scalerAddress: '127.0.0.1:${scaler.port}' } }`,
  );
  const deployments = [deployment('web', 1), deployment('orders', 0), deployment('parcels', 0)];
  const objects = [SCHEDULE, orders, pushed];
  const file = `${folder.path}/demo.yaml`;
  await writeFile(file, [...deployments, ...objects].join('---\n'));
  console.log(`\n${objects.join('---\n').trimEnd()}`);
  await show(system, ['apply', '-f', file], 'kubectl apply -f demo.yaml');
  console.log('\n$ kubectl get deployments -w');
  await using _ = system.watch(['get', 'deployments', '-w'], (line) => console.log(line));
  const happen = async (what: string) => {
    await sleep(STEP_MS, undefined, { signal });
    console.log(`# ${what}`);
  };
  await happen('12 orders wait in the HTTP queue, 5 for each replica');
  queue.waiting = 12;
  await happen('the gRPC scaler pushes 3 parcels, 2 for each replica');
  scaler.responses = parcels(3);
  scaler.push(true);
  await happen('orders and parcels are done');
  queue.waiting = 0;
  scaler.responses = parcels(0);
  await sleep(STEP_MS, undefined, { signal });
  console.log('^C');
  await show(system, ['get', 'cronhpa']);
  await show(system, ['get', 'scaledobjects']);
  await show(system, ['get', 'hpa']);
  for (const reason of ['KEDAScaleTargetActivated', 'SuccessfulRescale', 'KEDAScaleTargetDeactivated'])
    await show(system, ['get', 'events', `--field-selector=reason=${reason}`]);
}

/** The response of a scaler for a number of parcels. */
function parcels(count: number) {
  const specs = [{ metricName: 'parcels', targetSize: 2 }];
  return { specs, values: [{ metricName: 'parcels', metricValue: count }], isActive: count > 0 };
}

/** An HTTP server with the number of waiting orders. */
async function startQueue() {
  const queue = { waiting: 0, url: '', [Symbol.asyncDispose]: async () => {} };
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ waiting: queue.waiting }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  queue.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  queue[Symbol.asyncDispose] = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return queue;
}

async function defineScaledObjects(kubeconfig: string): Promise<void> {
  const applied = await new Kubectl(await findKubectl(), kubeconfig).run([
    'apply',
    '-k',
    'manifests/crds/keda',
  ]);
  if (applied.exitStatus !== 0) throw new Error(`Cannot apply the definitions: ${applied.stderr.trim()}`);
}

async function show(
  { kubectl }: AutoscalerSystem,
  args: readonly string[],
  shown = `kubectl ${args.join(' ')}`,
) {
  const { stdout, stderr, exitStatus } = await kubectl.run(args);
  if (exitStatus !== 0) throw new Error(`Cannot run ${shown}: ${stderr.trim()}`);
  console.log(`\n$ ${shown}\n${stdout.trimEnd()}`);
}
