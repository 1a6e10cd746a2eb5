import type { Fault } from './fault.ts';

/** A complete HTTP response whose body breaks off in the middle. */
export const truncateBody: Fault = {
  change: (reply) => ({ ...reply, body: reply.body.subarray(0, Math.floor(reply.body.length / 2)) }),
};
