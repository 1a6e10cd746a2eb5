import { ExcessiveAnswer } from './excessive-answer.ts';

/** Many times what a node can run. */
export const MOST_CONTAINERS = 50_000;

/** Counts the pods and containers of one answer. */
export class ContainerCount {
  #count = 0;

  /**
   * @param where what is being read, for the message
   * @throws {ExcessiveAnswer} when there are more than a node can have
   */
  add(where = ''): void {
    if (++this.#count <= MOST_CONTAINERS) return;
    throw new ExcessiveAnswer(
      'parts',
      `the answer has more than ${MOST_CONTAINERS} pods and containers${where}`,
    );
  }
}
