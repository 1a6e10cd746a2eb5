import { type Load, steadyLoad } from '#simulator/kubelet/running-container.ts';
import type { Dice } from './dice.ts';

const PAGE_BYTES = 4096;
const MEBIBYTE = 2 ** 20;

/**
 * A random load: most containers use little and some use cores. Every third load is a wave, so that a value with a wrong
 * window has a detectable error.
 */
export function someLoad(dice: Dice): Load {
  const millicores = Math.ceil(2 ** dice.between(0, 11));
  const memoryBytes = PAGE_BYTES * Math.ceil(dice.between(4 * MEBIBYTE, 512 * MEBIBYTE) / PAGE_BYTES);
  if (dice.fraction() < 2 / 3) return steadyLoad(millicores, memoryBytes);
  return wave(millicores, { memoryBytes, periodMs: dice.between(60_000, 1_800_000) });
}

/** Oscillates between zero and twice the mean. */
function wave(
  meanMillicores: number,
  { memoryBytes, periodMs }: { readonly memoryBytes: number; readonly periodMs: number },
): Load {
  const nanosecondsPerMs = meanMillicores * 1e3;
  const turns = (2 * Math.PI) / periodMs;
  return {
    cpuCoreNanoseconds: (lifeMs) => {
      const life = Math.max(0, lifeMs);
      return Math.floor(nanosecondsPerMs * (life - Math.sin(life * turns) / turns));
    },
    memoryBytes: () => memoryBytes,
  };
}
