import type { Watched } from './controller.ts';

/** Has keys reconciled that the program itself says have changed. */
export class KeySignal implements Watched {
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
