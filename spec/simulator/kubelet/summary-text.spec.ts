import { expect } from 'chai';
import fc from 'fast-check';
import { formatSummary } from '#simulator/kubelet/summary.ts';
import type { NodeMachine, RunningPod } from '#simulator/machine/node-machine.ts';
import { RunningContainer, steadyLoad } from '#simulator/machine/running-container.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { simulatedMachine } from '#spec/support/simulated-machine.ts';
import { formatPlainSummary } from './plain-summary.ts';

const container = fc.record({
  name: fc.string({ unit: 'grapheme', maxLength: 12 }),
  cpuMillicores: fc.oneof(fc.nat(5000), fc.double({ min: 0, max: 5000, noNaN: true })),
  memoryBytes: fc.nat(2 ** 31),
  swapBytes: fc.nat(2 ** 24),
  unknown: fc.subarray(['cpu', 'memory'] as const),
});

const pod = fc.record({
  namespace: fc.string({ maxLength: 12 }),
  name: fc.string({ unit: 'grapheme', maxLength: 12 }),
  uid: fc.uuid(),
  startedMsAgo: fc.oneof(fc.nat(7_200_000), fc.double({ min: 0, max: 7_200_000, noNaN: true })),
  containers: fc.array(container, { maxLength: 3 }),
});

const node = fc.record({
  runtime: fc.constantFrom('cri' as const, 'cadvisor' as const),
  kubeletPsi: fc.boolean(),
  skewMs: fc.integer({ min: -86_400_000, max: 86_400_000 }),
  swapBytes: fc.nat(2 ** 31),
  pods: fc.uniqueArray(pod, { maxLength: 4, selector: ({ uid }) => uid }),
});

/** An event between two requests, of the container or pod with an index. */
const happening = fc.record({
  what: fc.constantFrom('nothing', 'restart', 'stop', 'stop pod', 'step clock'),
  which: fc.nat(11),
  afterMs: fc.nat(30_000),
  onlyCpuAndMemory: fc.boolean(),
});

describe('formatSummary and the plain writer', () => {
  it('write the same text for any pods and any events', async () => {
    await fc.assert(
      fc.asyncProperty(node, fc.array(happening, { maxLength: 6 }), async (facts, happenings) => {
        const clock = new ManualClock();
        // A kubelet's state depends on earlier requests, so each writer has its own machine.
        const [ours, plain] = [machineOf(facts, clock), machineOf(facts, clock)];
        for (const { what, which, afterMs, onlyCpuAndMemory } of happenings) {
          await clock.jump(afterMs);
          for (const machine of [ours, plain]) happen(machine, { what, which, atMs: clock.monotonicMs() });
          const options = { onlyCpuAndMemory };
          expect(formatSummary(ours, options)).to.equal(formatPlainSummary(plain, options));
        }
      }),
    );
  });
});

type NodeFacts = typeof node extends fc.Arbitrary<infer T> ? T : never;

function machineOf({ pods, ...facts }: NodeFacts, clock: ManualClock): NodeMachine {
  const machine = simulatedMachine(clock, facts);
  for (const one of pods) machine.start(podOf(one, clock.monotonicMs()));
  return machine;
}

function podOf({ startedMsAgo, containers, ...pod }: NodeFacts['pods'][number], nowMs: number): RunningPod {
  const startedAtMs = nowMs - startedMsAgo;
  return {
    ...pod,
    startedAtMs,
    containers: containers.map(
      ({ name, cpuMillicores, memoryBytes, swapBytes, unknown }) =>
        new RunningContainer(name, steadyLoad(cpuMillicores, memoryBytes, { swapBytes }), {
          startedAtMs,
          unknown,
        }),
    ),
  };
}

function happen(
  machine: NodeMachine,
  { what, which, atMs }: { readonly what: string; readonly which: number; readonly atMs: number },
): void {
  const pods = [...machine.pods()];
  const containers = pods.flatMap((one) => one.containers);
  const container = containers[which % containers.length];
  const pod = pods[which % pods.length];
  if (what === 'restart') container?.restart(atMs);
  else if (what === 'stop') container?.stop(atMs);
  else if (what === 'stop pod' && pod) machine.stop(pod.uid);
  else if (what === 'step clock') machine.clock.skewMs += which * 777;
}
