/** Limits the length of texts together, such as names and values: variables that refer to others multiply lengths. */
export class LengthBudget {
  readonly #refusal: string;
  #left: number;

  /** @param refusal the message beyond the limit */
  constructor(limit: number, refusal: string) {
    this.#left = limit;
    this.#refusal = refusal;
  }

  /** @throws if less is left; then nothing is left */
  spend(length: number): void {
    this.check(length);
    this.#left -= length;
  }

  /** @throws as {@link spend} */
  check(length: number): void {
    if (length <= this.#left) return;
    this.#left = Number.NEGATIVE_INFINITY;
    throw new Error(this.#refusal);
  }

  /** The length of all keys and values. @throws as {@link spend} */
  spendAll(data: Readonly<Record<string, string>>): void {
    for (const [key, value] of Object.entries(data)) this.spend(key.length + value.length);
  }
}
