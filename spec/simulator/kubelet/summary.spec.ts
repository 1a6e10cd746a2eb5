import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { NodeMachine } from '#simulator/kubelet/node-machine.ts';
import { formatSummary } from '#simulator/kubelet/summary.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { runningPod, simulatedMachine } from '#spec/support/simulated-machine.ts';

describe('formatSummary', () => {
  for (const [query, file, onlyCpuAndMemory] of [
    ['everything', 't0-summary.json', false],
    ['CPU and memory alone', 't1-summary-cpu-memory.json', true],
  ] as const) {
    it(`has the fields, order, indentation and kinds of values that a kubelet gives for ${query}`, async () => {
      const { machine, clock } = await machineWithPods();
      const ours = formatSummary(machine, { onlyCpuAndMemory });
      const recorded = readFileSync(`spec/fixtures/kubelet/series/${file}`, 'utf8');
      expect(shapeOf(ours)).to.deep.equal(shapeOf(recorded));
      expect(clock.nowMs()).to.be.greaterThan(0);
    });
  }

  for (const onlyCpuAndMemory of [false, true]) {
    it(`${onlyCpuAndMemory ? 'for CPU and memory alone' : 'for everything'}, has neither pressure nor IO without KubeletPSI`, async () => {
      const fieldsOf = (machine: NodeMachine) =>
        shapeOf(formatSummary(machine, { onlyCpuAndMemory })).filter((line) => !/[}\]]$/.test(line));
      const all = fieldsOf((await machineWithPods()).machine);
      const without = fieldsOf((await machineWithPods('cri', { kubeletPsi: false })).machine);
      expect(without).to.deep.equal(all.filter((line) => !/\/(psi|io)\/|"(psi|io)":/.test(line)));
      expect(without.length).to.be.below(all.length);
    });
  }

  it('has timestamps of whole seconds, of containers at the request and of cgroups before', async () => {
    const { machine, clock } = await machineWithPods();
    await clock.advance(400);
    const { pods } = JSON.parse(formatSummary(machine, { onlyCpuAndMemory: true }));
    const [{ containers, cpu }] = pods;
    expect(containers[0].cpu.time).to.equal('2026-01-01T00:01:40Z');
    expect(Date.parse(cpu.time)).to.be.within(clock.nowMs() - 21_000, clock.nowMs());
  });

  it('advances counters with the clock', async () => {
    const { machine, clock } = await machineWithPods();
    const usage = () => {
      const { pods } = JSON.parse(formatSummary(machine, { onlyCpuAndMemory: true }));
      return pods[0].containers[0].cpu.usageCoreNanoSeconds;
    };
    const before = usage();
    await clock.advance(20_000);
    expect(usage() - before).to.equal(1_200_000_000);
  });

  it('writes zero for missing readings', () => {
    const clock = new ManualClock();
    const machine = simulatedMachine(clock);
    machine.start(runningPod(clock, { unknown: ['cpu', 'memory'] }));
    const { pods } = JSON.parse(formatSummary(machine, { onlyCpuAndMemory: true }));
    const [{ cpu, memory }] = pods[0].containers;
    expect([cpu.usageNanoCores, cpu.usageCoreNanoSeconds, memory.workingSetBytes]).to.deep.equal([0, 0, 0]);
  });

  it('reports used and available swap of node, pods and containers', () => {
    const clock = new ManualClock();
    const machine = simulatedMachine(clock, { swapBytes: 100_000 });
    for (const name of ['a', 'b']) {
      machine.start(runningPod(clock, { name, containers: ['c', 'd'], swapBytes: 4096 }));
    }
    const { node, pods } = JSON.parse(formatSummary(machine, { onlyCpuAndMemory: true }));
    expect(node.swap).to.include({ swapUsageBytes: 16_384, swapAvailableBytes: 83_616 });
    expect(node.systemContainers[0].swap).to.include({ swapUsageBytes: 16_384 });
    expect(pods[1].swap).to.include({ swapUsageBytes: 8192 });
    expect(pods[1].containers[0].swap).to.include({ swapUsageBytes: 4096, swapAvailableBytes: 95_904 });
  });

  it('leaves out a container that waits to be restarted', async () => {
    const { machine, clock } = await machineWithPods();
    const [pod] = machine.pods();
    pod?.containers[1]?.stop(clock.monotonicMs());
    const { pods } = JSON.parse(formatSummary(machine, { onlyCpuAndMemory: true }));
    expect(pods[0].containers.map(({ name }: { name: string }) => name)).to.deep.equal(['burn']);
  });

  it('gives a rate over ten seconds or more where cAdvisor samples', async () => {
    const { machine, clock } = await machineWithPods('cadvisor');
    const rate = () =>
      JSON.parse(formatSummary(machine, { onlyCpuAndMemory: true })).pods[0].containers[0].cpu;
    const first = rate();
    await clock.advance(28);
    expect(rate()).to.deep.equal(first);
    expect(first.usageNanoCores).to.be.within(59e6, 61e6);
  });

  it('has the timestamps of a wrong wall clock', async () => {
    const clock = new ManualClock();
    const machine = simulatedMachine(clock, { skewMs: 3_600_000 });
    machine.start(runningPod(clock));
    const { pods } = JSON.parse(formatSummary(machine, { onlyCpuAndMemory: true }));
    expect(pods[0].startTime).to.equal('2026-01-01T01:00:00Z');
  });

  async function machineWithPods(runtime: 'cri' | 'cadvisor' = 'cri', { kubeletPsi = true } = {}) {
    const clock = new ManualClock();
    const machine = simulatedMachine(clock, { runtime, kubeletPsi });
    machine.start(runningPod(clock, { containers: ['burn', 'side'] }));
    machine.start(runningPod(clock, { name: 'quiet', namespace: 'kube-system', containers: ['quiet'] }));
    await clock.advance(100_000);
    return { machine, clock };
  }
});

/** A summary without values: its distinct lines with their indentation. */
function shapeOf(summary: string): string[] {
  const lines = summary.split('\n').map((line) =>
    line
      .replace(/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/, 'TIME')
      .replace(/: "[^"]*"/, ': TEXT')
      .replace(/: \d+/, ': NUMBER'),
  );
  // The number of pods, containers and network interfaces is not part of the shape.
  return [...new Set(pathsOf(lines))].filter((line) => !line.includes('interfaces'));
}

/** Each line with its parent keys, so that order and nesting are compared. */
function pathsOf(lines: readonly string[]): string[] {
  const keys: string[] = [];
  return lines.map((line) => {
    const depth = line.search(/\S/);
    const key = /"([^"]+)":/.exec(line)?.[1] ?? '';
    keys.length = Math.min(keys.length, depth);
    while (keys.length < depth) keys.push('');
    const path = `${keys.join('/')}/${line.trim().replace(/,$/, '')}`;
    keys.push(key);
    return path;
  });
}
