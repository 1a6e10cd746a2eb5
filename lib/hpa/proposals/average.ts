import { toInt64 } from '../quantities/go-integers.ts';
import type { PodMeasure } from './pod-measure.ts';

/**
 * Compares the mean of the pods' values, in whole thousandths rounded towards zero, with a target.
 *
 * @param target thousandths
 */
export function averageMeasure(target: bigint): PodMeasure {
  return {
    measure(values) {
      let sum = 0n;
      for (const value of values.values()) sum += value;
      const average = toInt64(sum) / BigInt(values.size);
      return { ratio: Number(average) / Number(target), average };
    },

    /** Scaling down, exactly the target; scaling up, nothing; at exactly the target it is left out. */
    assumedOfMissing(_pod, ratio) {
      if (ratio === 1) return undefined;
      return ratio < 1 ? target : 0n;
    },
  };
}
