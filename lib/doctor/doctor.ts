import { flag, oneOf, text } from '#lib/flags/flag.ts';
import { printable, printableLines } from '#lib/telemetry/printable.ts';
import { type Check, type Diagnoses, type Finding, unchecked } from './check.ts';
import type { ClusterContext } from './cluster-context.ts';
import type { Permission } from './permissions.ts';

export interface CheckResult {
  readonly name: string;
  readonly title: string;
  readonly durationMs: number;
  readonly findings: readonly Finding[];
}

/**
 * Runs checks in sequence and reports each result at once. If the first check fails, which all others depend on,
 * stops.
 *
 * @returns whether no check failed
 */
export async function runChecks<C extends ClusterContext>(
  checks: readonly Check<C>[],
  context: C,
  onResult: (result: CheckResult) => void,
): Promise<boolean> {
  let isSound = true;
  for (const [index, check] of checks.entries()) {
    const startedAtMs = context.clock.monotonicMs();
    const findings = await runCheck(check, context);
    const durationMs = context.clock.monotonicMs() - startedAtMs;
    onResult({ name: check.name, title: check.title, durationMs, findings });
    if (findings.some(({ status }) => status === 'failed')) {
      isSound = false;
      if (index === 0) return false;
    }
  }
  return isSound;
}

async function runCheck<C extends ClusterContext>(check: Check<C>, context: C): Promise<readonly Finding[]> {
  try {
    return await check.run(context);
  } catch (error) {
    return [unchecked(check.title, error)];
  }
}

/** Flags of every doctor, in addition to those of its server. */
export const doctorFlags = {
  output: flag('output', oneOf('text', 'json'), {
    shorthand: 'o',
    default: 'text',
    description: 'Output format: text or json.',
  }),
  serverAccount: flag('server-account', text, {
    default: '',
    description:
      'User name of the program, system:serviceaccount:NAMESPACE:NAME. Set it to check the permissions of the program when the ' +
      'doctor runs under its own account. By default, the doctor checks its own permissions.',
    validate: (account) =>
      isUserName(account)
        ? undefined
        : 'must be a user name; for a service account, system:serviceaccount:NAMESPACE:NAME',
  }),
};

/**
 * User names are nearly arbitrary, but `NAMESPACE/NAME` is a common mistake: no such user exists, so nothing is
 * granted to it.
 */
function isUserName(account: string): boolean {
  if (!account.startsWith('system:serviceaccount:')) return !/^[a-z0-9.-]*\/[a-z0-9.-]*$/.test(account);
  return /^system:serviceaccount:[a-z0-9-]+:[a-z0-9.-]+$/.test(account);
}

/** The part of one subsystem in its program's doctor. */
export interface DoctorPart {
  /** Permissions that the server requires. */
  readonly permissions: readonly Permission[];
  /** Whether the cluster has objects for the subsystem. If not, no permission is missing. By default it has. */
  readonly isNeeded?: (context: ClusterContext) => Promise<boolean>;
  /** In their order. */
  readonly checks: readonly Check[];
  /** Diagnoses of the checks; the troubleshooting page has a section for each. */
  readonly diagnoses: Diagnoses;
}

interface ReportOptions {
  readonly output: 'text' | 'json';
  /** Receives whole lines. */
  readonly write: (text: string) => void;
}

/**
 * Runs checks and reports them: as text, each as soon as it is done; as JSON, all in one document.
 *
 * @returns whether no check failed
 */
export async function examine<C extends ClusterContext>(
  checks: readonly Check<C>[],
  context: C,
  { output, write }: ReportOptions,
): Promise<boolean> {
  const results: CheckResult[] = [];
  const isSound = await runChecks(checks, context, (result) => {
    results.push(result);
    if (output === 'text') write(`${formatResult(result)}\n`);
  });
  if (output === 'text') write(`${formatSummary(results, checks.length)}\n`);
  else write(`${printableLines(JSON.stringify({ ok: isSound, checks: results }, undefined, 2))}\n`);
  return isSound;
}

const MARKS = { ok: '✓', note: '–', failed: '✗', unchecked: '?' } as const;

/** More successful findings than this are counted, not listed. */
const MAX_LISTED = 3;

/** Limits texts of kubelets, certificates and nodes, in UTF-16 units. */
const MAX_TEXT_LENGTH = 2_000;

/** Objects that a group of findings lists. */
const MAX_GROUPED = 10;

/**
 * Formats a result for people: one line per finding, with the remedy below. Problems of the same kind are a group: one
 * heading, their objects, and one remedy.
 */
export function formatResult({ title, findings }: CheckResult): string {
  const sound = findings.filter(({ status }) => status === 'ok');
  const others = findings.filter(({ status }) => status !== 'ok');
  const lines =
    sound.length > MAX_LISTED ? [`  ${MARKS.ok} ${sound.length} passed`] : sound.map(formatFinding);
  const groups = Map.groupBy(others, (finding) =>
    finding.status === 'failed' ? `${finding.title}\n${finding.remedyTemplate}` : finding,
  );
  for (const group of groups.values()) lines.push(...formatGroup(group));
  return [title, ...lines, ''].join('\n');
}

function formatGroup(findings: readonly Finding[]): readonly string[] {
  const problems = findings.filter((finding) => finding.status === 'failed');
  const [first] = problems;
  if (!first) return findings.map(formatFinding);
  const isSame = problems.every(({ remedy }) => remedy === first.remedy);
  const remedy = `      remedy: ${sanitize(isSame ? first.remedy : first.remedyTemplate)}`;
  if (problems.length === 1) return [formatFinding(first), remedy];
  const more = problems.length - MAX_GROUPED;
  return [
    `  ${MARKS.failed} ${first.title} (${problems.length}):`,
    ...problems
      .slice(0, MAX_GROUPED)
      .map(({ subject, seen }) => `      ${sanitize(subject)}: ${sanitize(seen)}`),
    ...(more > 0 ? [`      and ${more} more`] : []),
    remedy,
  ];
}

/** Failed objects that the summary names. */
const MAX_SUMMARIZED = 10;

/** Formats the last line of a report. @param planned the number of checks, including those that did not run */
export function formatSummary(results: readonly CheckResult[], planned = results.length): string {
  const statuses = results.map(({ findings }) => new Set(findings.map(({ status }) => status)));
  const failed = statuses.filter((one) => one.has('failed')).length;
  const incomplete = statuses.filter((one) => one.has('unchecked') && !one.has('failed')).length;
  const notRun = planned - results.length;
  const more = [
    ...(incomplete > 0 ? [`${incomplete} could not check everything`] : []),
    ...(notRun > 0 ? [`${notRun} did not run`] : []),
  ].map((text) => `; ${text}`);
  if (failed === 0) {
    const passed = results.length - incomplete;
    return `${passed} ${passed === 1 ? 'check' : 'checks'} passed${more.join('')}`;
  }
  const findings = results.flatMap((result) => result.findings);
  const subjects = [
    ...new Set(findings.filter(({ status }) => status === 'failed').map(({ subject }) => sanitize(subject))),
  ];
  const left = subjects.length - MAX_SUMMARIZED;
  const names = `${subjects.slice(0, MAX_SUMMARIZED).join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
  return `${failed} of ${planned} ${planned === 1 ? 'check' : 'checks'} failed${more.join('')}: ${names}`;
}

function formatFinding(finding: Finding): string {
  const { status } = finding;
  const mark = MARKS[status];
  const [subject, seen] = [sanitize(finding.subject), sanitize(finding.seen)];
  if (status === 'unchecked') return `  ${mark} ${subject}: could not check: ${seen}`;
  if (status !== 'failed') return `  ${mark} ${subject}: ${seen}`;
  return `  ${mark} ${subject}: ${finding.title}: ${seen}`;
}

/** Shortens foreign text and makes it safe for a terminal. */
function sanitize(text: string): string {
  return printable(text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text);
}
