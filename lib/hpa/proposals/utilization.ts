import { toInt32, toInt64 } from '../quantities/go-integers.ts';
import { MetricFailure } from './metric-failure.ts';
import type { PodMeasure } from './pod-measure.ts';

/**
 * Compares what pods use with what they request, in whole percent rounded down.
 *
 * Values of pods that have no request, because there are no such pods, are left out.
 *
 * @param requests thousandths by pod
 * @param target percent
 */
export function utilizationMeasure(requests: ReadonlyMap<string, bigint>, target: number): PodMeasure {
  return {
    measure(values) {
      let used = 0n;
      let requested = 0n;
      let pods = 0n;
      for (const [pod, value] of values) {
        const request = requests.get(pod);
        if (request === undefined) continue;
        used += value;
        requested += request;
        pods++;
      }
      [used, requested] = [toInt64(used), toInt64(requested)];
      if (requested === 0n) throw new MetricFailure('no metrics returned matched known pods');
      const utilization = toInt32(toInt64(used * 100n) / requested);
      return { ratio: utilization / target, average: used / pods, utilization };
    },

    /** As an average does, but scaling down everything that it requests, or what it may use where that is more. */
    assumedOfMissing(pod, ratio) {
      if (ratio > 1) return 0n;
      if (ratio === 1) return undefined;
      const percent = BigInt(Math.max(100, target));
      return toInt64((requests.get(pod) ?? 0n) * percent) / 100n;
    },
  };
}
