import { ExcessiveResponse } from './excessive-response.ts';

/** Many times what a node can run. */
export const MOST_CONTAINERS = 50_000;

/** Counts the pods and containers of one response. */
export class ContainerCount {
  #count = 0;

  /**
   * @param where what is being read, for the message
   * @throws {ExcessiveResponse} when there are more than a node can have
   */
  add(where = ''): void {
    if (++this.#count <= MOST_CONTAINERS) return;
    throw new ExcessiveResponse(
      'parts',
      `the response has more than ${MOST_CONTAINERS} pods and containers${where}`,
    );
  }
}
