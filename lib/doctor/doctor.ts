import { flag, oneOf, text } from '#lib/flags/flag.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { printable, printableLines } from '#lib/telemetry/printable.ts';
import type { Check, Diagnoses, Finding } from './check.ts';
import { type ApiContext, MissingPermission } from './cluster-context.ts';
import type { Permission } from './permissions.ts';

/** What came of one check. */
export interface CheckResult {
  readonly name: string;
  readonly title: string;
  readonly durationMs: number;
  readonly findings: readonly Finding[];
}

/**
 * Runs checks one after the other and reports each as soon as it is done. When the first fails, which all others
 * build on, the others are not tried.
 *
 * @returns whether nothing failed
 */
export async function runChecks<C extends ApiContext>(
  checks: readonly Check<C>[],
  context: C,
  onResult: (result: CheckResult) => void,
): Promise<boolean> {
  let isSound = true;
  for (const [index, check] of checks.entries()) {
    const startedAtMs = context.clock.monotonicMs();
    const findings = await look(check, context);
    const durationMs = context.clock.monotonicMs() - startedAtMs;
    onResult({ name: check.name, title: check.title, durationMs, findings });
    if (findings.some(({ status }) => status === 'failed')) {
      isSound = false;
      if (index === 0) return false;
    }
  }
  return isSound;
}

async function look<C extends ApiContext>(check: Check<C>, context: C): Promise<readonly Finding[]> {
  try {
    return await check.run(context);
  } catch (error) {
    const missingPermission =
      error instanceof MissingPermission ? { missingPermission: error.permission } : {};
    const seen = error instanceof MissingPermission ? error.message : describeError(error);
    return [{ status: 'unchecked', subject: check.title, seen, ...missingPermission }];
  }
}

/** What every doctor takes beside the flags of its server. */
export const doctorFlags = {
  output: flag('output', oneOf('text', 'json'), {
    shorthand: 'o',
    default: 'text',
    description: 'How to tell what was found: text or json.',
  }),
  serverAccount: flag('server-account', text, {
    default: '',
    description:
      'The user name of the server, system:serviceaccount:NAMESPACE:NAME, whose permissions are looked at when the doctor runs ' +
      'under an account of its own; by default its own permissions are.',
    ruleBrokenBy: (account) =>
      isUserName(account)
        ? undefined
        : 'must be a user name, which is system:serviceaccount:NAMESPACE:NAME for a service account',
  }),
};

/** Users of certificates and tokens have nearly any name; `NAMESPACE/NAME` means a service account, but is no user, so nothing is granted to it. */
function isUserName(account: string): boolean {
  if (!account.startsWith('system:serviceaccount:')) return !/^[a-z0-9.-]*\/[a-z0-9.-]*$/.test(account);
  return /^system:serviceaccount:[a-z0-9-]+:[a-z0-9.-]+$/.test(account);
}

/** What a subsystem brings to the doctor of its program. */
export interface DoctorPart {
  /** What its server must be allowed. */
  readonly permissions: readonly Permission[];
  /** Whether the cluster has anything for it to do: where it has nothing, no permission is missing. By default it has. */
  readonly isNeeded?: (context: ApiContext) => Promise<boolean>;
  /** What is looked at, in this order. */
  readonly checks: readonly Check[];
  /** What these can find wrong; the page about troubleshooting has a section for each. */
  readonly diagnoses: Diagnoses;
}

/** How to tell what was found, and to whom. */
interface Telling {
  readonly output: 'text' | 'json';
  /** Takes what is found, in whole lines. */
  readonly write: (text: string) => void;
}

/**
 * Has checks look, and tells what they found: each as soon as it is done, or all in one JSON document.
 *
 * @returns whether nothing is wrong
 */
export async function examine<C extends ApiContext>(
  checks: readonly Check<C>[],
  context: C,
  { output, write }: Telling,
): Promise<boolean> {
  const results: CheckResult[] = [];
  const isSound = await runChecks(checks, context, (result) => {
    results.push(result);
    if (output === 'text') write(`${formatResult(result)}\n`);
  });
  if (output === 'json')
    write(`${printableLines(JSON.stringify({ ok: isSound, checks: results }, undefined, 2))}\n`);
  return isSound;
}

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
