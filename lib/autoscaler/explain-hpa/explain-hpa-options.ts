import { boolean, duration, type FlagSection, flag, oneOf, text } from '#lib/flags/flag.ts';
import { formatHelp } from '#lib/flags/format-flags.ts';
import { FlagError, parseFlags } from '#lib/flags/parse-flags.ts';

/** What an HPA is to be explained by, and how. */
export interface ExplainHpaOptions {
  /** The scenario, as YAML. */
  readonly file: string;
  /** The load, as CSV; empty where the scenario has it. */
  readonly loadFile: string;
  readonly output: 'table' | 'svg';
  /** Whose decision is explained in place of all being told; `undefined` for none. */
  readonly atMs: number | undefined;
}

/** What the command line asks for. */
export type ExplainHpaCommandLine =
  | { readonly kind: 'explain'; readonly options: ExplainHpaOptions }
  | { readonly kind: 'help'; readonly text: string };

/** What `explain-hpa` takes beside the scenario. */
export const explainHpaFlags = {
  loadFile: flag('load', text, {
    default: '',
    description: 'CSV file with the load, in place of the one that the scenario has.',
  }),
  output: flag('output', oneOf('table', 'svg'), {
    shorthand: 'o',
    default: 'table',
    description: 'A table of what happens minute by minute, or a drawing of it.',
  }),
  atMs: flag<number | undefined>('at', duration, {
    default: undefined,
    description: 'Explain the decision of this moment of the scenario, with the whole calculation.',
    ruleBrokenBy: (atMs) => (atMs !== undefined && atMs < 0 ? 'must not be negative' : undefined),
  }),
  help: flag('help', boolean, { shorthand: 'h', default: false, description: 'Print this help and exit.' }),
};

const SECTIONS: readonly FlagSection[] = [{ title: 'Flags', flags: explainHpaFlags }];

/**
 * Reads the command line of `autoscaler explain-hpa`.
 *
 * @param argv behind the word `explain-hpa`
 * @throws {FlagError} for what is unknown or malformed, and unless there is exactly one file
 */
export function parseExplainHpaOptions(argv: readonly string[]): ExplainHpaCommandLine {
  const { values, arguments: files } = parseFlags(explainHpaFlags, argv);
  if (values.help) return { kind: 'help', text: formatHelp('autoscaler explain-hpa FILE [flags]', SECTIONS) };
  const [file, ...more] = files;
  if (file === undefined || more.length > 0)
    throw new FlagError(`explain-hpa takes one file with a scenario, and was given ${files.length}`);
  const { loadFile, output, atMs } = values;
  if (atMs !== undefined && output === 'svg')
    throw new FlagError('--at explains in words: give it without --output=svg');
  return { kind: 'explain', options: { file, loadFile, output, atMs } };
}
