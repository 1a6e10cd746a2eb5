/** When nodes that have responded once are asked again, whenever cycles begin: a rate needs two samples that lie apart. */
export class SecondScrapes {
  readonly #afterMs: number;
  /** By node, when its first response had come in; -Infinity once it has responded twice. */
  readonly #firstResponseMs = new Map<string, number>();

  /** @param afterMs how long behind a node's first response its second scrape begins */
  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  noteResponse(nodeName: string, receivedAtMs: number): void {
    const isFirst = !this.#firstResponseMs.has(nodeName);
    this.#firstResponseMs.set(nodeName, isFirst ? receivedAtMs : Number.NEGATIVE_INFINITY);
  }

  /** Before when a node is not to be asked; -Infinity for one that may be at any time. */
  dueMs(nodeName: string): number {
    return (this.#firstResponseMs.get(nodeName) ?? Number.NEGATIVE_INFINITY) + this.#afterMs;
  }

  /** Drops what is known of nodes that are gone. */
  retain(isLive: (nodeName: string) => boolean): void {
    for (const nodeName of this.#firstResponseMs.keys())
      if (!isLive(nodeName)) this.#firstResponseMs.delete(nodeName);
  }
}
