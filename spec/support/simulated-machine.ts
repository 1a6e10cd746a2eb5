import { NodeClock } from '#simulator/kubelet/node-clock.ts';
import { NodeMachine, type RunningPod, type RuntimeKind } from '#simulator/kubelet/node-machine.ts';
import { type MissingReading, RunningContainer, steadyLoad } from '#simulator/kubelet/running-container.ts';
import type { ManualClock } from './manual-clock.ts';

const MEBIBYTE = 2 ** 20;

/** A machine that booted a day ago and runs no containers. */
export function simulatedMachine(
  clock: ManualClock,
  {
    runtime = 'cri',
    skewMs = 0,
    swapBytes = 0,
    kubeletPsi = true,
  }: { runtime?: RuntimeKind; skewMs?: number; swapBytes?: number; kubeletPsi?: boolean } = {},
): NodeMachine {
  return new NodeMachine('node-1', new NodeClock(clock, skewMs), {
    runtime,
    memoryBytes: 1024 * MEBIBYTE,
    swapBytes,
    kubeletPsi,
    bootedAtMs: clock.monotonicMs() - 86_400_000,
    system: steadyLoad(100, 64 * MEBIBYTE),
  });
}

/** A pod that starts now, with a load of 60 millicores and 24 MiB in each container. */
export function runningPod(
  clock: ManualClock,
  {
    name = 'burner',
    namespace = 'default',
    containers = ['burn'],
    unknown = [] as MissingReading[],
    swapBytes = 0,
  } = {},
): RunningPod {
  const startedAtMs = clock.monotonicMs();
  return {
    namespace,
    name,
    uid: `uid-of-${name}`,
    startedAtMs,
    containers: containers.map(
      (container) =>
        new RunningContainer(container, steadyLoad(60, 24 * MEBIBYTE, { swapBytes }), {
          startedAtMs,
          unknown,
        }),
    ),
  };
}
