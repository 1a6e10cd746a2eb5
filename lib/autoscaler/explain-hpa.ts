import { boolean, duration, type FlagSection, flag, oneOf, text } from '#lib/flags/flag.ts';
import { formatHelp } from '#lib/flags/format-flags.ts';
import { FlagError, parseFlags } from '#lib/flags/parse-flags.ts';
import { readBoundedFile } from '#lib/flags/read-bounded-file.ts';
import { explainDecision } from '#lib/hpa/explain/explain-decision.ts';
import { type PlayedDecision, playScenario } from '#lib/hpa/explain/play.ts';
import { parseScenario, type Scenario } from '#lib/hpa/explain/scenario.ts';
import { timelineSvg, timelineTable } from '#lib/hpa/explain/timeline.ts';
import { shortenSelectors } from '#lib/kubernetes/selectors/readable-selectors.ts';
import { printableLines } from '#lib/telemetry/printable.ts';
import { formatDuration } from '#lib/time/duration.ts';

const MAX_FILE_BYTES = 4 * 1024 * 1024;

/**
 * Explains what the HPA controller does in a scenario, without a cluster.
 *
 * @returns a table, a chart, or the explanation of one decision
 * @throws {Error} with the file, the problem, and the rule
 */
export async function explainHpa({ file, loadFile, output, atMs }: ExplainHpaOptions): Promise<string> {
  const scenarioText = await readText(file);
  const loadText = loadFile === '' ? undefined : await readText(loadFile);
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

/** The last decision at or before a time. */
function decisionAt(scenario: Scenario, atMs: number): string {
  if (atMs > scenario.durationMs) {
    const end = formatDuration(scenario.durationMs);
    throw new Error(`Cannot explain decision at ${formatDuration(atMs)}: the scenario ends at ${end}`);
  }
  let found: PlayedDecision | undefined;
  for (const decision of playScenario(scenario)) {
    if (decision.atMs > atMs) break;
    found = decision;
  }
  if (!found) return '';
  const text = explainDecision(found.outcome.explanation, { isHypothetical: true });
  return `decided at ${formatDuration(found.atMs)}\n${shortenSelectors(text)}`;
}

/** @throws {Error} with the path, if the file cannot be read or is too long */
async function readText(path: string): Promise<string> {
  try {
    return await readBoundedFile(path, MAX_FILE_BYTES);
  } catch (cause) {
    throw new Error(`Cannot read ${path}`, { cause });
  }
}

export interface ExplainHpaOptions {
  /** Path of the scenario, in YAML. */
  readonly file: string;
  /** Path of the load, in CSV; empty to use the one of the scenario. */
  readonly loadFile: string;
  readonly output: 'table' | 'svg';
  /** Time of the decision to explain; `undefined` for all decisions. */
  readonly atMs: number | undefined;
}

type ExplainHpaCommandLine =
  | { readonly kind: 'explain'; readonly options: ExplainHpaOptions }
  | { readonly kind: 'help'; readonly text: string };

const explainHpaFlags = {
  loadFile: flag('load', text, {
    default: '',
    description: 'CSV file with the load, which replaces the load in the scenario.',
  }),
  output: flag('output', oneOf('table', 'svg'), {
    shorthand: 'o',
    default: 'table',
    description: 'Output format: table, or svg for a chart.',
  }),
  atMs: flag<number | undefined>('at', duration, {
    default: undefined,
    description: 'Explain in detail the decision at this time of the scenario.',
    validate: (atMs) => (atMs !== undefined && atMs < 0 ? 'must not be negative' : undefined),
  }),
  help: flag('help', boolean, { shorthand: 'h', default: false, description: 'Print this help and exit.' }),
};

const SECTIONS: readonly FlagSection[] = [{ title: 'Flags', flags: explainHpaFlags }];

/**
 * Parses the command line of `autoscaler explain-hpa`.
 *
 * @param argv after `explain-hpa`
 * @throws {FlagError} for unknown or malformed flags, and unless there is exactly one file
 */
export function parseExplainHpaOptions(argv: readonly string[]): ExplainHpaCommandLine {
  const { values, arguments: files } = parseFlags(explainHpaFlags, argv);
  if (values.help) return { kind: 'help', text: formatHelp('autoscaler explain-hpa FILE [flags]', SECTIONS) };
  const [file, ...more] = files;
  if (file === undefined || more.length > 0)
    throw new FlagError(`explain-hpa takes one scenario file, got ${files.length}`);
  const { loadFile, output, atMs } = values;
  if (atMs !== undefined && output === 'svg')
    throw new FlagError('--at and --output=svg are mutually exclusive');
  return { kind: 'explain', options: { file, loadFile, output, atMs } };
}
