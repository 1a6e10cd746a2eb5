import { createReadStream } from 'node:fs';
import { explainDecision } from '#lib/hpa/explain/explain-decision.ts';
import { type PlayedDecision, playScenario } from '#lib/hpa/explain/play.ts';
import { parseScenario, type Scenario } from '#lib/hpa/explain/scenario.ts';
import { timelineSvg, timelineTable } from '#lib/hpa/explain/timeline.ts';
import { printableLines } from '#lib/telemetry/printable.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { ExplainHpaOptions } from './explain-hpa-options.ts';

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
