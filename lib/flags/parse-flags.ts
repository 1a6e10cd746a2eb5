import type { Flag, FlagSet, FlagValues } from './flag.ts';

/** What a command line says. */
export interface ParsedFlags<F extends FlagSet> {
  /** Of every flag; its default where it was not given. */
  readonly values: FlagValues<F>;
  /** The flags that were given, in the order of their first appearance. */
  readonly given: readonly Flag<unknown>[];
  /** What is no flag and no flag's value. */
  readonly arguments: readonly string[];
}

/**
 * Reads a command line as Go's pflag does: `--flag=value`, `--flag value`, `--switch`, `--switch=false`, `-v=2`,
 * `-v 2`, `-v2`, with `_` for `-` in names if one likes, and `--` before arguments that look like flags.
 *
 * @throws {FlagError} for an unknown flag, a missing value, and a value that breaks the rule of its flag
 */
export function parseFlags<F extends FlagSet>(flags: F, argv: readonly string[]): ParsedFlags<F> {
  const reader = new Reader(Object.values(flags));
  reader.read(argv);
  const values = Object.entries(flags).map(([property, { name, default: fallback }]) => [
    property,
    reader.given.has(name) ? reader.valueOf(name) : fallback,
  ]);
  return {
    values: Object.fromEntries(values) as FlagValues<F>,
    given: [...reader.given.keys()].flatMap((name) => reader.byName.get(name) ?? []),
    arguments: reader.arguments,
  };
}

class Reader {
  /** The values of each flag, in the order in which they were given. */
  readonly given = new Map<string, unknown[]>();
  readonly arguments: string[] = [];
  readonly byName: ReadonlyMap<string, Flag<unknown>>;
  readonly #byShorthand: ReadonlyMap<string, Flag<unknown>>;

  constructor(flags: readonly Flag<unknown>[]) {
    this.byName = new Map(flags.map((flag) => [flag.name, flag]));
    this.#byShorthand = new Map(
      flags.flatMap((flag) => (flag.shorthand === undefined ? [] : [[flag.shorthand, flag]])),
    );
  }

  read(argv: readonly string[]): void {
    const words = argv.values(); // to shift them off would take the square of their number
    for (const word of words) {
      if (word === '--') for (const argument of words) this.arguments.push(argument);
      else if (word.startsWith('--')) this.#readLong(word, words);
      else if (word.startsWith('-') && word !== '-') this.#readShort(word.slice(1), words);
      else this.arguments.push(word);
    }
  }

  /** The last that was given, or all of them joined where the kind of the flag says how. */
  valueOf(name: string): unknown {
    const values = this.given.get(name) ?? [];
    const { kind } = this.byName.get(name) ?? {};
    return kind?.join ? kind.join(values) : values.at(-1);
  }

  #readLong(word: string, behind: Iterator<string>): void {
    const [, written = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    const flag = this.byName.get(written.replaceAll('_', '-'));
    if (!flag) throw new FlagError(`Unknown flag ${onOneLine(`--${written}`)}`);
    this.#set(flag, `--${flag.name}`, value ?? takeValue(flag, `--${flag.name}`, behind));
  }

  /** `-v2`, `-v=2`, `-v 2`; switches can be written together. */
  #readShort(letters: string, behind: Iterator<string>): void {
    let more = letters;
    for (const letter of letters) {
      const flag = this.#byShorthand.get(letter);
      if (!flag) {
        const where = more.length > 1 ? ` in -${more}` : '';
        throw new FlagError(`Unknown flag ${onOneLine(`-${letter}${where}`)}`);
      }
      const shown = `-${letter}`;
      more = more.slice(letter.length);
      if (isSwitch(flag) && /^[^=]/s.test(more)) {
        this.#set(flag, shown, 'true');
        continue;
      }
      if (more === '') this.#set(flag, shown, takeValue(flag, shown, behind));
      else this.#set(flag, shown, more.startsWith('=') ? more.slice(1) : more);
      return;
    }
  }

  #set(flag: Flag<unknown>, shown: string, text: string): void {
    const value = parseValue(flag, shown, text);
    const earlier = this.given.get(flag.name);
    if (earlier) earlier.push(value);
    else this.given.set(flag.name, [value]);
  }
}

/** Escapes line breaks and the like. */
function onOneLine(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function isSwitch({ kind }: Flag<unknown>): boolean {
  return kind.placeholder === '';
}

function takeValue(flag: Flag<unknown>, shown: string, behind: Iterator<string>): string {
  if (isSwitch(flag)) return 'true';
  const next = behind.next();
  if (next.done) throw new FlagError(`${shown} needs a value`);
  return next.value;
}

function parseValue(flag: Flag<unknown>, shown: string, text: string): unknown {
  let value: unknown;
  let rule: string | undefined;
  try {
    value = flag.kind.parse(text);
    rule = flag.ruleBrokenBy?.(value);
  } catch (error) {
    rule = error instanceof Error ? error.message : String(error);
  }
  if (rule === undefined) return value;
  const given = flag.mayHoldSecret ? '' : ` ${JSON.stringify(text)}`;
  throw new FlagError(`Invalid value${given} for ${shown}: ${rule}`);
}

/** A command line that cannot be used; the message is one line that names flag, value and rule. */
export class FlagError extends Error {
  override readonly name = 'FlagError';
}
