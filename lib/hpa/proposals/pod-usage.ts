import { parseThousandths } from '#lib/kubernetes/exact-quantity.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { PodUsage, PodValue } from '../decision/decision-input.ts';
import { toInt64 } from '../decision/replica-calculator.ts';

/** Values of one metric by pod, in thousandths, with when and over which time each was taken. */
export type PodSamples = ReadonlyMap<string, PodSample>;

export interface PodSample {
  readonly thousandths: bigint;
  readonly takenAtMs: number;
  readonly windowMs: number;
}

/**
 * What pods use of a resource: the sum of their containers, each rounded up to thousandths.
 *
 * A pod without containers, or with one whose usage is unknown, has no sample: unknown is not zero.
 */
export function usageOfPods(usages: readonly PodUsage[], resource: string): PodSamples {
  const samples = new Map<string, PodSample>();
  for (const { pod, takenAtMs, windowMs, containers } of usages) {
    if (containers.length === 0) continue;
    let thousandths: bigint | undefined = 0n;
    for (const { usage } of containers) {
      const used = getOwn(usage, resource);
      thousandths = used === undefined ? undefined : toInt64(thousandths + parseThousandths(used));
      if (thousandths === undefined) break;
    }
    if (thousandths !== undefined) samples.set(pod, { thousandths, takenAtMs, windowMs });
  }
  return samples;
}

/** What one container of each pod uses of a resource; pods without it have no sample. */
export function usageOfContainers(
  usages: readonly PodUsage[],
  { resource, container }: { readonly resource: string; readonly container: string },
): PodSamples {
  const samples = new Map<string, PodSample>();
  for (const { pod, takenAtMs, windowMs, containers } of usages) {
    const used = getOwn(containers.find(({ name }) => name === container)?.usage, resource);
    if (used !== undefined) samples.set(pod, { thousandths: parseThousandths(used), takenAtMs, windowMs });
  }
  return samples;
}

/** Values of a custom metric by pod; only CPU asks when they were taken. */
export function valuesOfPods(values: readonly PodValue[], takenAtMs: number): PodSamples {
  const samples = new Map<string, PodSample>();
  for (const { pod, value } of values) {
    samples.set(pod, { thousandths: parseThousandths(value), takenAtMs, windowMs: 60_000 });
  }
  return samples;
}
