import type { Fault } from './fault.ts';

/** Lists in lists, down so many levels. */
export function nestDeeply(levels: number): Fault {
  return {
    change: (reply) => ({ ...reply, body: Buffer.from(`${'['.repeat(levels)}${']'.repeat(levels)}`) }),
  };
}
