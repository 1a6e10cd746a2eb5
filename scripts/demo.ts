// Shows kubectl top on a simulated cluster that the server scrapes.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type SimulatedSystem, startSimulatedSystem } from '#spec/support/simulated-system.ts';
import { untilServed } from '#spec/support/until-served.ts';
import { runDemo } from './run-demo.ts';

const NODES = 3;
const PODS_PER_NODE = 10;
const SERVED_WITHIN_MS = 60_000;
const REFRESH_MS = 5_000;

const { values } = parseArgs({ options: { once: { type: 'boolean', default: false } } });

await runDemo(demonstrate);

async function demonstrate(signal: AbortSignal): Promise<void> {
  console.log(
    `Simulating a cluster of ${NODES} nodes with ${PODS_PER_NODE} pods each, and scraping it over TLS.`,
  );
  console.log('CPU usage requires two readings: metrics are available in about 13 seconds.');
  await using system = await startSimulatedSystem({
    cluster: ['--nodes', `${NODES}`, '--pods-per-node', `${PODS_PER_NODE}`],
    flags: ['--metric-resolution=15s'],
    signal,
  });
  await untilServed(
    system,
    { nodes: NODES, pods: NODES * PODS_PER_NODE },
    { timeoutMs: SERVED_WITHIN_MS, signal },
  );
  await show(system);
  while (!values.once && !signal.aborted) {
    await sleep(REFRESH_MS, undefined, { signal });
    if (process.stdout.isTTY) console.log('\x1b[H\x1b[2J');
    await show(system);
    console.log(
      `\nAt ${new Date().toLocaleTimeString()}, again in ${REFRESH_MS / 1000} seconds; Ctrl-C ends the demo.`,
    );
  }
}

async function show({ kubectl }: SimulatedSystem): Promise<void> {
  for (const args of [
    ['top', 'nodes'],
    ['top', 'pods', '-A'],
  ]) {
    const { stdout, stderr, exitStatus } = await kubectl.run(args);
    if (exitStatus !== 0) throw new Error(`Cannot run kubectl ${args.join(' ')}: ${stderr.trim()}`);
    console.log(`\n$ kubectl ${args.join(' ')}\n${stdout.trimEnd()}`);
  }
}
