import { textAnswer } from '../kubelet-answer.ts';
import type { Fault } from './fault.ts';

/**
 * Another status instead of the answer.
 *
 * @param headers more headers, such as `Location` or `Retry-After`
 */
export function answerStatus(status: number, headers: Readonly<Record<string, string>> = {}): Fault {
  return {
    change: () => {
      const answer = textAnswer(status, `simulated status ${status}\n`);
      return { ...answer, headers: { ...answer.headers, ...headers } };
    },
  };
}
