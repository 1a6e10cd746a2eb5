/** The bounds of what a kubelet may say: its length, what parsing it would cost, and what all may hold together. */
export type ResponseBound = 'bytes' | 'depth' | 'parts' | 'memory';

/** A kubelet's response that goes past a bound. */
export class ExcessiveResponse extends Error {
  readonly bound: ResponseBound;

  constructor(bound: ResponseBound, message: string) {
    super(message);
    this.bound = bound;
  }
}

/** Many times what a node can run. */
const MOST_CONTAINERS = 50_000;

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

/** A text of millions of unreadable lines is no response with as many errors. */
const MOST_HELD = 1000;

/** What had to be left out of a response because it could not be read, in words; the first thousand. */
export class IgnoredParts {
  readonly #held: string[] = [];

  note(part: string): void {
    if (this.#held.length < MOST_HELD) this.#held.push(part);
  }

  get held(): readonly string[] {
    return this.#held;
  }
}
