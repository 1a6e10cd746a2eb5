import type { SimulatedCluster } from '#simulator/simulated-cluster.ts';

/** A list of PodMetrics with the fields that are compared. */
export interface PodMetricsList {
  readonly items: readonly {
    readonly metadata: { readonly namespace: string; readonly name: string };
    readonly timestamp: string;
    readonly window: string;
    readonly containers: readonly {
      readonly name: string;
      readonly usage: { readonly cpu: string; readonly memory: string };
    }[];
  }[];
}

/** Tolerated error, for whole-second timestamps and usages below a millicore. */
const TOLERATED_PART = 0.02;
const TOLERATED_NANOCORES = 1e6;

/**
 * Compares every served container with its actual usage in the reported window.
 *
 * @returns descriptions of wrong values; pods that were deleted or crashed meanwhile are skipped
 */
export function wrongUsages({ truth }: SimulatedCluster, { items }: PodMetricsList): readonly string[] {
  const wrong: string[] = [];
  for (const { metadata, timestamp, window, containers } of items) {
    const toMs = Date.parse(timestamp);
    const windowMs = secondsOf(window) * 1000;
    const stampErrorPart = 1000 / windowMs;
    for (const { name, usage } of containers) {
      const path = { namespace: metadata.namespace, pod: metadata.name, container: name };
      const { cpuNanocores, memoryBytes } = steadyUsage(truth, path, { fromMs: toMs - windowMs, toMs }) ?? {};
      if (cpuNanocores === undefined || memoryBytes === undefined) continue;
      const tolerated = cpuNanocores * (stampErrorPart + TOLERATED_PART) + TOLERATED_NANOCORES;
      const served = nanocoresOf(usage.cpu);
      const where = `${metadata.namespace}/${metadata.name} ${name}`;
      if (Math.abs(served - cpuNanocores) > tolerated) {
        wrong.push(`${where}: ${usage.cpu} over ${window}, really ${Math.round(cpuNanocores)}n`);
      }
      if (bytesOf(usage.memory) !== memoryBytes) {
        wrong.push(`${where}: ${usage.memory}, really ${memoryBytes} bytes`);
      }
    }
  }
  return wrong;
}

/** `undefined` if the container has ended, or has restarted since the window began. */
function steadyUsage(
  truth: SimulatedCluster['truth'],
  path: { readonly namespace: string; readonly pod: string; readonly container: string },
  window: { readonly fromMs: number; readonly toMs: number },
) {
  try {
    const startedAtMs = Date.now() - performance.now() + truth.container(path).startedAtMs(performance.now());
    return startedAtMs > window.fromMs - 1000 ? undefined : truth.containerUsage(path, window);
  } catch {
    return undefined; // deleted
  }
}

function secondsOf(duration: string): number {
  const [, minutes = '0', seconds = '0'] = /^(?:(\d+)m)?(?:([\d.]+)s)?$/.exec(duration) ?? [];
  return Number(minutes) * 60 + Number(seconds);
}

function nanocoresOf(quantity: string): number {
  const [, digits, suffix = ''] = /^(\d+)([num]?)$/.exec(quantity) ?? [];
  return Number(digits) * ({ n: 1, u: 1e3, m: 1e6 }[suffix] ?? 1e9);
}

function bytesOf(quantity: string): number {
  const [, digits, suffix = ''] = /^(\d+)((?:[KMGT]i)?)$/.exec(quantity) ?? [];
  return Number(digits) * 1024 ** ['', 'Ki', 'Mi', 'Gi', 'Ti'].indexOf(suffix);
}
