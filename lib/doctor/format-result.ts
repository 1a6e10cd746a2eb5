import { printable } from '#lib/telemetry/printable.ts';
import type { Finding } from './finding.ts';
import type { CheckResult } from './run-checks.ts';

const MARKS = { ok: '✓', note: '–', failed: '✗', unchecked: '?' } as const;

/** More findings that all is well than this are counted, not listed. */
const MOST_LISTED = 3;

/** More of what is told of one thing is cut: kubelets, certificates and nodes may say a lot. */
const MOST_SHOWN = 2_000;

/** Writes what came of a check for people: a line a finding, and under what failed its remedy, each once. */
export function formatResult({ title, findings }: CheckResult): string {
  const sound = findings.filter(({ status }) => status === 'ok');
  const others = findings.filter(({ status }) => status !== 'ok');
  const lines =
    sound.length > MOST_LISTED ? [`  ${MARKS.ok} ${sound.length} as they should be`] : sound.map(lineOf);
  if (findings.length === 0) lines.push(`  ${MARKS.note} nothing to look at, or nothing came that far`);
  const told = new Set<string>();
  for (const finding of others) {
    lines.push(lineOf(finding));
    if (finding.status !== 'failed' || told.has(finding.remedy)) continue;
    told.add(finding.remedy);
    lines.push(`      remedy: ${shown(finding.remedy)}`);
  }
  return [title, ...lines, ''].join('\n');
}

function lineOf(finding: Finding): string {
  const { status } = finding;
  const mark = MARKS[status];
  const [subject, seen] = [shown(finding.subject), shown(finding.seen)];
  if (status === 'unchecked') return `  ${mark} ${subject}: could not check: ${seen}`;
  if (status !== 'failed') return `  ${mark} ${subject}: ${seen}`;
  return `  ${mark} ${subject}: ${finding.title}: ${seen}`;
}

/** What others say, on one line and without effect on a terminal. */
function shown(text: string): string {
  return printable(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);
}
