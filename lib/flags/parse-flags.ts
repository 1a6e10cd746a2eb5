import { messageOf } from '#lib/telemetry/error-text.ts';
import type { Flag, FlagSet, FlagValues } from './flag.ts';

export interface ParsedFlags<F extends FlagSet> {
  /** Of every flag: the given value or the default. */
  readonly values: FlagValues<F>;
  /** The flags that were given, in the order of their first appearance. */
  readonly given: readonly Flag<unknown>[];
  /** Positional arguments. */
  readonly arguments: readonly string[];
}

/**
 * Parses a command line like Go's pflag: `--flag=value`, `--flag value`, `--switch`, `--switch=false`, `-v=2`, `-v 2`
 * and `-v2`. Names may use `_` for `-`; `--` ends the flags.
 *
 * @throws {FlagError} for an unknown flag, a missing value, or a value that violates the rule of its flag
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
  /** Values by flag name, in the order given. */
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
    const words = argv.values(); // an iterator: shifting a long array is quadratic
    for (const word of words) {
      if (word === '--') for (const argument of words) this.arguments.push(argument);
      else if (word.startsWith('--')) this.#readLong(word, words);
      else if (word.startsWith('-') && word !== '-') this.#readShort(word.slice(1), words);
      else this.arguments.push(word);
    }
  }

  /** The joined values if the flag's kind joins them, otherwise the last one. */
  valueOf(name: string): unknown {
    const values = this.given.get(name) ?? [];
    const { kind } = this.byName.get(name) ?? {};
    return kind?.join ? kind.join(values) : values.at(-1);
  }

  #readLong(word: string, rest: Iterator<string>): void {
    const [, written = '', value] = /^--([^=]*)(?:=(.*))?$/s.exec(word) ?? [];
    const flag = this.byName.get(written.replaceAll('_', '-'));
    if (!flag) throw new FlagError(`Unknown flag ${onOneLine(`--${written}`)}`);
    this.#set(flag, `--${flag.name}`, value ?? takeValue(flag, `--${flag.name}`, rest));
  }

  /** Handles `-v2`, `-v=2` and `-v 2`; switches can be combined. */
  #readShort(letters: string, words: Iterator<string>): void {
    let rest = letters;
    for (const letter of letters) {
      const flag = this.#byShorthand.get(letter);
      if (!flag) {
        const where = rest.length > 1 ? ` in -${rest}` : '';
        throw new FlagError(`Unknown flag ${onOneLine(`-${letter}${where}`)}`);
      }
      const shown = `-${letter}`;
      rest = rest.slice(letter.length);
      if (isSwitch(flag) && /^[^=]/s.test(rest)) {
        this.#set(flag, shown, 'true');
        continue;
      }
      if (rest === '') this.#set(flag, shown, takeValue(flag, shown, words));
      else this.#set(flag, shown, rest.startsWith('=') ? rest.slice(1) : rest);
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

/** Escapes line breaks and other control characters. */
function onOneLine(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function isSwitch({ kind }: Flag<unknown>): boolean {
  return kind.placeholder === '';
}

function takeValue(flag: Flag<unknown>, shown: string, rest: Iterator<string>): string {
  if (isSwitch(flag)) return 'true';
  const next = rest.next();
  if (next.done) throw new FlagError(`${shown} needs a value`);
  return next.value;
}

function parseValue(flag: Flag<unknown>, shown: string, text: string): unknown {
  let value: unknown;
  let rule: string | undefined;
  try {
    value = flag.kind.parse(text);
    rule = flag.validate?.(value);
  } catch (error) {
    rule = messageOf(error);
  }
  if (rule === undefined) return value;
  const given = flag.mayContainSecret ? '' : ` ${JSON.stringify(text)}`;
  throw new FlagError(`Invalid value${given} for ${shown}: ${rule}`);
}

/** An invalid command line. The message is one line that names the flag, the value and the rule. */
export class FlagError extends Error {
  override readonly name = 'FlagError';
}
