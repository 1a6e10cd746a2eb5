import { textResponse } from '../kubelet-response.ts';
import type { Fault } from './fault.ts';

/**
 * Another status instead of the response.
 *
 * @param headers more headers, such as `Location` or `Retry-After`
 */
export function respondStatus(status: number, headers: Readonly<Record<string, string>> = {}): Fault {
  return {
    change: () => {
      const reply = textResponse(status, `simulated status ${status}\n`);
      return { ...reply, headers: { ...reply.headers, ...headers } };
    },
  };
}
