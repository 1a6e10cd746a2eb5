import { getOwn } from '#lib/kubernetes/get-own.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { type ClusterContext, MissingPermission } from './cluster-context.ts';

/** Examines one aspect of a cluster. */
export interface Check<C extends ClusterContext = ClusterContext> {
  /** Machine-readable. */
  readonly name: string;
  /** Human-readable. */
  readonly title: string;

  /**
   * @returns at least one finding; {@link findingsOr} has one if there is nothing to check
   * @throws {MissingPermission} and other errors that prevent the check; the runner reports them as `unchecked`
   */
  run(context: C): Promise<readonly Finding[]>;
}

/** A problem and its remedy. */
export interface Diagnosis {
  /** A statement; the troubleshooting page has a section of this title. */
  readonly title: string;
  /** Words in capitals are placeholders for names and addresses; REMEDY is one for the remedy of the cause. */
  readonly remedy: string;
}

/** All problems that a doctor can report, by their machine-readable codes. */
export type Diagnoses = Readonly<Record<string, Diagnosis>>;

/** Replaces the placeholders of a remedy. */
export function formatRemedy({ remedy }: Diagnosis, names: Readonly<Record<string, string>> = {}): string {
  return remedy.replaceAll(/[A-Z]+/g, (word) => getOwn(names, word) ?? word);
}

/** Objects examined concurrently. */
const MAX_CONCURRENT = 16;

/** Examines objects concurrently. @returns the findings in the order of the objects */
export async function examineEach<T>(
  objects: readonly T[],
  examine: (object: T) => Promise<Finding | readonly Finding[]>,
): Promise<readonly Finding[]> {
  const findings: (Finding | readonly Finding[])[] = [];
  const waiting = objects.entries();
  const work = async () => {
    for (const [index, object] of waiting) findings[index] = await examine(object);
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, work));
  return findings.flat();
}

/** Creates the finding of a check that could not run. */
export function unchecked(subject: string, error: unknown): Finding {
  if (!(error instanceof MissingPermission))
    return { status: 'unchecked', subject, seen: describeError(error) };
  return { status: 'unchecked', subject, seen: error.message, missingPermission: error.permission };
}

export type Finding = Sound | Problem | Unchecked;

/** No problem; a note is additional information. */
interface Sound {
  readonly status: 'ok' | 'note';
  /** `API server`, `node "a"`, `pod default/web`. */
  readonly subject: string;
  readonly seen: string;
}

interface Problem {
  readonly status: 'failed';
  readonly subject: string;
  readonly seen: string;
  /** The code of the diagnosis. */
  readonly diagnosis: string;
  /** Its human-readable title. */
  readonly title: string;
  readonly remedy: string;
  /** The remedy with placeholders for the names of the object: equal for problems of the same kind. */
  readonly remedyTemplate: string;
}

interface Unchecked {
  readonly status: 'unchecked';
  readonly subject: string;
  /** Why the check could not run. */
  readonly seen: string;
  /** As in `list nodes`, if it is the reason. */
  readonly missingPermission?: string;
}

export function ok(subject: string, seen: string): Finding {
  return { status: 'ok', subject, seen };
}

export function note(subject: string, seen: string): Finding {
  return { status: 'note', subject, seen };
}

/** The findings about objects; if there are none, a note why. @param objects all that exist, if this check found them */
export function findingsOr(
  subject: string,
  findings: readonly Finding[],
  objects?: readonly unknown[],
): readonly Finding[] {
  if (findings.length > 0) return findings;
  const why = objects?.length === 0 ? 'none exist' : 'not checked: no object passed the earlier checks';
  return [note(subject, why)];
}

/**
 * Creates the finding of a problem. `remedy` replaces REMEDY in that of the diagnosis; the remaining properties fill
 * its placeholders.
 */
export type Fail<Code extends string = string> = (
  subject: string,
  seen: string,
  diagnosis: { readonly diagnosis: Code; readonly remedy?: string } & Readonly<Record<string, string>>,
) => Finding;

/** Creates the {@link Fail} function of a doctor, or of a part of one. */
export function failedBy<const D extends Diagnoses>(diagnoses: D): Fail<Extract<keyof D, string>> {
  return (subject, seen, { diagnosis: code, remedy: ofCause = 'REMEDY', ...names }) => {
    const { title, remedy } = diagnoses[code] as Diagnosis;
    const template = remedy.replace('REMEDY', () => ofCause);
    return {
      status: 'failed',
      subject,
      seen,
      diagnosis: code,
      title,
      remedy: formatRemedy({ title, remedy: template }, names),
      remedyTemplate: template,
    };
  };
}
