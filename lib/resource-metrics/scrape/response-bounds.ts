/**
 * Limits of a kubelet's response: its size, nesting, number of pods and containers, and the memory shared by all
 * responses.
 */
type ResponseBound = 'bytes' | 'depth' | 'parts' | 'memory';

export class ExcessiveResponse extends Error {
  readonly bound: ResponseBound;

  constructor(bound: ResponseBound, message: string) {
    super(message);
    this.bound = bound;
  }
}

/** Many times the capacity of a node. */
const MAX_CONTAINERS = 50_000;

export class ContainerCount {
  #count = 0;

  /**
   * @param where position in the response, for the message
   * @throws {ExcessiveResponse} above the limit
   */
  add(where = ''): void {
    if (++this.#count <= MAX_CONTAINERS) return;
    throw new ExcessiveResponse(
      'parts',
      `the response has more than ${MAX_CONTAINERS} pods and containers${where}`,
    );
  }
}

/** Bounds the memory for a response of millions of unreadable lines. */
const MAX_IGNORED_PARTS = 1000;

/** Descriptions of unreadable parts of a response, up to a limit. */
export class IgnoredParts {
  readonly #parts: string[] = [];

  add(part: string): void {
    if (this.#parts.length < MAX_IGNORED_PARTS) this.#parts.push(part);
  }

  get parts(): readonly string[] {
    return this.#parts;
  }
}
