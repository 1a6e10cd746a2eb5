import { createReadStream } from 'node:fs';
import { boolean, duration, type FlagSection, flag, oneOf, text } from '#lib/flags/flag.ts';
import { formatHelp } from '#lib/flags/format-flags.ts';
import { FlagError, parseFlags } from '#lib/flags/parse-flags.ts';
import { explainDecision } from '#lib/hpa/explain/explain-decision.ts';
import { type PlayedDecision, playScenario } from '#lib/hpa/explain/play.ts';
import { parseScenario, type Scenario } from '#lib/hpa/explain/scenario.ts';
import { timelineSvg, timelineTable } from '#lib/hpa/explain/timeline.ts';
import { printableLines } from '#lib/telemetry/printable.ts';
import { formatDuration } from '#lib/time/duration.ts';

/** A longer file is no scenario. */
const LONGEST_FILE = 4 * 1024 * 1024;

/**
 * Tells what the HPA controller would do in a scenario, without a cluster.
 *
 * @returns a table, a drawing, or the explanation of one decision
 * @throws {Error} that names the file, what in it is wrong, and the rule
 */
export async function explainHpa({ file, loadFile, output, atMs }: ExplainHpaOptions): Promise<string> {
  const scenarioText = await readWhole(file);
  const loadText = loadFile === '' ? undefined : await readWhole(loadFile);
  const scenario = parseScenario(scenarioText, {
    file,
    ...(loadText !== undefined && { loadText, loadFile }),
  });
  if (atMs !== undefined) return `${printableLines(decisionAt(scenario, atMs))}\n`;
  const decisions = playScenario(scenario);
  if (output === 'table') return `${printableLines(timelineTable(decisions))}\n`;
  const { metadata, spec } = scenario.hpa;
  const title = `${metadata.namespace}/${metadata.name}`;
  const { minReplicas = 1, maxReplicas } = spec;
  return `${timelineSvg([...decisions], { title, minReplicas, maxReplicas })}\n`;
}

/** The last decision that is not later. */
function decisionAt(scenario: Scenario, atMs: number): string {
  if (atMs > scenario.durationMs) {
    const end = formatDuration(scenario.durationMs);
    throw new Error(`Cannot explain what happens at ${formatDuration(atMs)}: the scenario ends at ${end}`);
  }
  let found: PlayedDecision | undefined;
  for (const decision of playScenario(scenario)) {
    if (decision.atMs > atMs) break;
    found = decision;
  }
  if (!found) return '';
  const text = explainDecision(found.outcome.explanation, { isHypothetical: true });
  return `decided at ${formatDuration(found.atMs)}\n${text}`;
}

/** @throws when there is no such file, it is a directory, or it is too long */
async function readWhole(path: string): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  try {
    for await (const part of createReadStream(path, { end: LONGEST_FILE })) {
      parts.push(part);
      length += part.length;
    }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'EISDIR') throw new Error(`Cannot read ${path}: it is a directory`); // all that the cause says
    throw new Error(`Cannot read ${path}: ${message}`, { cause });
  }
  if (length > LONGEST_FILE)
    throw new Error(`Cannot read ${path}: a scenario is no longer than ${LONGEST_FILE} bytes`);
  return Buffer.concat(parts).toString('utf8');
}

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
const explainHpaFlags = {
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
    validate: (atMs) => (atMs !== undefined && atMs < 0 ? 'must not be negative' : undefined),
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
