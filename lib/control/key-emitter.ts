import type { Watched } from './controller.ts';

/** Reconciles keys on request of the program itself. */
export class KeyEmitter implements Watched {
  readonly #listeners = new Set<(change: { readonly key: string }) => void>();

  notify(key: string): void {
    for (const listener of this.#listeners) listener({ key });
  }

  onChange(listener: (change: { readonly key: string }) => void): () => void {
    const own = (change: { readonly key: string }) => listener(change);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  async synced(): Promise<void> {}
}
