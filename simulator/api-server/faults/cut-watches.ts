import type { ApiFault } from './api-fault.ts';

/** Watches of which each can be cut off at any moment, in the midst of a line or between two. */
export class CutWatches implements ApiFault {
  readonly #open = new Set<() => void>();

  /** How many watches there are now. */
  get count(): number {
    return this.#open.size;
  }

  serve: ApiFault['serve'] = async ({ verb, response }, { next }) => {
    if (verb !== 'watch') return next();
    const cut = () => response.destroy();
    this.#open.add(cut);
    response.once('close', () => this.#open.delete(cut));
    await next();
  };

  /** Breaks all of them without a word; the connections of others stay. */
  cut(): void {
    for (const cut of [...this.#open]) cut();
  }
}
