/** When nodes that have answered once are asked again, whenever cycles begin: a rate needs two samples that lie apart. */
export class SecondScrapes {
  readonly #afterMs: number;
  /** By node, when its first answer had come in; -Infinity once it has answered twice. */
  readonly #firstAnswerMs = new Map<string, number>();

  /** @param afterMs how long behind a node's first answer its second scrape begins */
  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  noteAnswer(nodeName: string, receivedAtMs: number): void {
    const isFirst = !this.#firstAnswerMs.has(nodeName);
    this.#firstAnswerMs.set(nodeName, isFirst ? receivedAtMs : Number.NEGATIVE_INFINITY);
  }

  /** Before when a node is not to be asked; -Infinity for one that may be at any time. */
  dueMs(nodeName: string): number {
    return (this.#firstAnswerMs.get(nodeName) ?? Number.NEGATIVE_INFINITY) + this.#afterMs;
  }

  /** Drops what is known of nodes that are gone. */
  retain(isLive: (nodeName: string) => boolean): void {
    for (const nodeName of this.#firstAnswerMs.keys())
      if (!isLive(nodeName)) this.#firstAnswerMs.delete(nodeName);
  }
}
