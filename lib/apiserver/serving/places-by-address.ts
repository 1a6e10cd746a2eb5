/** Something that one address takes up. */
export interface AddressedPlace {
  readonly address: string;
}

/** Places in the order in which they were taken, counted by address. */
export class PlacesByAddress<Place extends AddressedPlace> {
  readonly #places = new Set<Place>();
  readonly #counts = new Map<string, number>();

  get size(): number {
    return this.#places.size;
  }

  /** The one that was taken first. */
  get oldest(): Place | undefined {
    const [oldest] = this.#places;
    return oldest;
  }

  add(place: Place): void {
    if (this.#places.has(place)) return;
    this.#places.add(place);
    this.#counts.set(place.address, (this.#counts.get(place.address) ?? 0) + 1);
  }

  delete(place: Place): void {
    if (!this.#places.delete(place)) return;
    const count = (this.#counts.get(place.address) ?? 0) - 1;
    if (count > 0) this.#counts.set(place.address, count);
    else this.#counts.delete(place.address);
  }

  /**
   * Whose place another may have: the oldest of the address that has the most beyond those reserved for it.
   *
   * @returns `undefined` where no address has more than the newcomer's would have
   */
  victimFor(newcomer: Place, reservedFor: (address: string) => number): Place | undefined {
    const own = (this.#counts.get(newcomer.address) ?? 0) + 1 - reservedFor(newcomer.address);
    let [worst, most]: [string | undefined, number] = [undefined, own];
    for (const [address, count] of this.#counts) {
      const excess = count - reservedFor(address);
      if (address !== newcomer.address && excess > most) [worst, most] = [address, excess];
    }
    if (worst === undefined) return undefined;
    for (const place of this.#places) if (place.address === worst) return place;
    return undefined;
  }
}
