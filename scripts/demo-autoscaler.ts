// Shows the autoscaler at work: a simulated cluster, a Deployment that follows a schedule of seconds, and the real kubectl watching it.
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AutoscalerSystem, startAutoscalerSystem } from '#spec/support/autoscaler-system.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';
import { runDemo } from './run-demo.ts';

const WATCHED_MS = 45_000;

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: 1
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
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

await runDemo(demonstrate);

async function demonstrate(signal: AbortSignal): Promise<void> {
  console.log('Simulating a cluster of 2 nodes, and starting an autoscaler in it.');
  await using system = await startAutoscalerSystem({ signal });
  await using folder = await TemporaryDirectory.create();
  const file = `${folder.path}/web.yaml`;
  await writeFile(file, `${DEPLOYMENT}---\n${SCHEDULE}`);
  console.log(`\n${SCHEDULE.trimEnd()}`);
  await show(system, ['apply', '-f', file], 'kubectl apply -f web.yaml');
  console.log('\n$ kubectl get deployment web -w');
  await using _ = system.watch(['get', 'deployment', 'web', '-w'], (line) => console.log(line));
  await sleep(WATCHED_MS, undefined, { signal });
  console.log('^C');
  await show(system, ['get', 'cronhpa']);
  await show(system, ['get', 'events', '--field-selector=reason=Scaled']);
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
