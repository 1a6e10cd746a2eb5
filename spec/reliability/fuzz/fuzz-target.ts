/** Something that reads what strangers write. */
export interface FuzzTarget {
  readonly name: string;
  /** The longest text to have it read, in characters. */
  readonly bound?: number;
  /** What it really gets to read. */
  readonly seeds: readonly string[];
  read(text: string): unknown;
  /** Whether an error is its way to say that the text is wrong. */
  isRefusal(error: unknown): boolean;
}
