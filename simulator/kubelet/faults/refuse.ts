import type { Fault } from './fault.ts';

/** The kubelet is down: the kernel refuses connections, and those that were open are closed. */
export const refuse: Fault = {
  takePort: async () => ({ [Symbol.asyncDispose]: async () => {} }),
};
