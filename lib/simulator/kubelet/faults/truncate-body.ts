import type { Fault } from './fault.ts';

/** A complete HTTP answer whose body breaks off in the middle. */
export const truncateBody: Fault = {
  change: (answer) => ({ ...answer, body: answer.body.subarray(0, Math.floor(answer.body.length / 2)) }),
};
