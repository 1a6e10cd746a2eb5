/** Knows of which HPAs something could not be kept lately, so that it is told once while it lasts in a namespace. */
export class UnkeptNames {
  readonly #names = new Map<string, Set<string>>();

  /** @returns whether it is the first of its namespace */
  failed(namespace: string, name: string): boolean {
    const names = this.#names.get(namespace);
    names?.add(name);
    if (!names) this.#names.set(namespace, new Set([name]));
    return !names;
  }

  /** Something was kept, or there is nothing to keep any more. */
  kept(namespace: string, name: string): void {
    const names = this.#names.get(namespace);
    names?.delete(name);
    if (names?.size === 0) this.#names.delete(namespace);
  }
}
