/** How the values of a flag are written. */
export interface FlagKind<T> {
  /** What stands for the value in the help; empty for a switch, whose value may be left out. */
  readonly placeholder: string;
  /** @throws an Error whose message is the rule that the text breaks */
  parse(text: string): T;
  format(value: T): string;
  /** Joins the values of a flag that may be given more than once; without it the last one counts. */
  join?(values: readonly T[]): T;
}

/** One flag of a command line. */
export interface Flag<T> {
  /** Without the dashes. */
  readonly name: string;
  /** One letter, as in `-v`. */
  readonly shorthand?: string;
  readonly kind: FlagKind<T>;
  readonly default: T;
  /** One or more sentences; units and rules are told here. */
  readonly description: string;
  /** @returns the rule that a value breaks, as in `must be positive`; `undefined` when it breaks none */
  ruleBrokenBy?(value: T): string | undefined;
  /** Whether a value may hold what nobody is to read, so that an error never shows it. */
  readonly mayHoldSecret?: boolean;
  /** Why the flag is accepted and has no effect. */
  readonly ignoredBecause?: string;
}

/** Flags by the property that their value becomes. */
export type FlagSet = Readonly<Record<string, Flag<unknown>>>;

/** The values of a flag set. */
export type FlagValues<F extends FlagSet> = {
  readonly [K in keyof F]: F[K] extends Flag<infer T> ? T : never;
};

/** Flags that belong together in the help. */
export interface FlagSection {
  readonly title: string;
  readonly flags: FlagSet;
}

/** Describes one flag. */
export function flag<T>(
  name: string,
  kind: FlagKind<T>,
  facts: Omit<Flag<NoInfer<T>>, 'name' | 'kind'>,
): Flag<T> {
  return { name, kind, ...facts };
}
