import { mkdir, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServerInCluster } from '#spec/support/spawned-server-in-cluster.ts';
import { Churn } from './churn.ts';
import { leaveOn, requestOn } from './clients.ts';
import { drawSoak } from './draw.ts';
import { type PodMetricsList, wrongUsages } from './judge.ts';
import { type Sample, sampleProcess } from './sample.ts';
import { judgeMemory } from './verdict.ts';

// Runs a server in a cluster that churns and fails: main.ts [MINUTES [NODES [FOLDER]]], where FOLDER takes the report.
// Exits with status 1 and the reasons if a value was wrong or memory grew after warm-up.
const [minutes = 5, nodes = 30] = process.argv.slice(2, 4).map(Number);
const folder = process.argv[4] ?? '.cache/soak';
const PODS_PER_NODE = 10;
const SAMPLE_EVERY_MS = 5_000;
const RESOLUTION_MS = 15_000;
const CLIENTS = 3;

const samples: Sample[] = [];
const complaints: string[] = [];
let failedRequests = 0;
let isOver = false;
{
  await using system = await startServerInCluster(
    { nodes, podsPerNode: PODS_PER_NODE },
    { flags: [`--metric-resolution=${RESOLUTION_MS / 1000}s`], nodeFlags: ['--max-old-space-size=256'] },
  );
  void system.server.ended.then(({ status, signal }) => {
    if (isOver) return;
    const lastWords = system.server.output.slice(-20).join('\n');
    process.stderr.write(
      `The server has ended with ${signal ?? `status ${status}`}; its last words were:\n${lastWords}\n`,
    );
  });
  await system.until(async () => (await system.request('/readyz')).status === 200);
  const ending = new AbortController();
  const fail = (what: string) => {
    failedRequests++;
    complaints.push(what);
  };
  const churn = new Churn(system.cluster, 1);
  const busy = Promise.all([
    churn.run(ending.signal),
    leaveOn(system, ending.signal, fail),
    ...Array.from({ length: CLIENTS }, () => requestOn(system, ending.signal, fail)),
  ]);
  const startMs = performance.now();
  while (performance.now() - startMs < minutes * 60_000) {
    await Promise.race([sleep(SAMPLE_EVERY_MS), busy]);
    const list = JSON.parse(
      (await system.request('/apis/metrics.k8s.io/v1beta1/pods')).body,
    ) as PodMetricsList;
    const wrong = wrongUsages(system.cluster, list);
    complaints.push(...wrong);
    const figures = await sampleProcess(system, churn.healthyNodes({ forMs: 2 * RESOLUTION_MS }));
    samples.push({
      atSeconds: (performance.now() - startMs) / 1000,
      ...figures,
      faultyNodes: churn.faultyNodes,
      servedPods: list.items.length,
      runningPods: [...system.cluster.truth.pods()].length,
      wrongContainers: wrong.length,
      failedRequests,
    });
  }
  isOver = true;
  ending.abort();
  await busy;
}

const { residentGrowth, heapGrowth, complaints: memoryComplaints } = judgeMemory(samples);
complaints.unshift(...memoryComplaints);
const wrongContainers = samples.reduce((sum, sample) => sum + sample.wrongContainers, 0);
const title = `${minutes} minutes, ${nodes} nodes, ${nodes * PODS_PER_NODE} pods, faults on up to a third of the nodes`;
const report = [
  '# Soak',
  '',
  `\`make soak MINUTES=${minutes} NODES=${nodes}\`: ${title}; pods are created, deleted and crash; the API server restarts; ${CLIENTS} clients send all kinds of requests, and one disconnects before the response.`,
  '',
  '| figure | value |',
  '| --- | --- |',
  `| resident memory of the second half after warm-up, relative to the first, medians | ${residentGrowth?.toFixed(3) ?? 'too short'} |`,
  `| JavaScript heap, the same | ${heapGrowth?.toFixed(3) ?? 'too short'} |`,
  `| maximum resident memory | ${Math.round(max('residentMebibytes'))} MiB |`,
  `| longest delay of the event loop | ${Math.round(max('loopDelayMs'))} ms |`,
  `| maximum file descriptors | ${max('fileDescriptors')} |`,
  `| maximum kubelets that failed at a time | ${max('faultyNodes')} |`,
  `| time since the last scrape of a healthy kubelet: 99th percentile, at most | ${max('healthyAgeSeconds').toFixed(1)} s |`,
  `| values of containers that were wrong | ${wrongContainers} |`,
  `| failed requests | ${failedRequests} |`,
  '',
  '![Memory, delays and failures over time](soak.svg)',
  '',
].join('\n');
await mkdir(folder, { recursive: true });
await writeFile(`${folder}/soak.svg`, drawSoak(title, samples));
await writeFile(`${folder}/README.md`, report);
process.stdout.write(report);
const MAX_COMPLAINTS = 20;
for (const complaint of complaints.slice(0, MAX_COMPLAINTS)) process.stdout.write(`${complaint}\n`);
const others = complaints.length - MAX_COMPLAINTS;
if (others > 0) process.stdout.write(`… and ${others} more of the kind\n`);
if (complaints.length > 0) process.exitCode = 1;

function max(what: keyof Sample): number {
  return Math.max(...samples.map((sample) => sample[what]));
}
