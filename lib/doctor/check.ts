import { getOwn } from '#lib/kubernetes/get-own.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { type ApiContext, MissingPermission } from './cluster-context.ts';

/** Something that can be wrong with a cluster, and how to look. */
export interface Check<C extends ApiContext = ApiContext> {
  /** For programs. */
  readonly name: string;
  /** What is looked at, for people. */
  readonly title: string;

  /**
   * Looks.
   *
   * @throws {MissingPermission} and any other error that keeps it from looking: the runner makes a finding of it
   */
  run(context: C): Promise<readonly Finding[]>;
}

/** Something that is wrong, and what to do about it. */
export interface Diagnosis {
  /** A claim; the page about troubleshooting has a section of this title. */
  readonly title: string;
  /** Words in capitals stand for names and addresses of the case. */
  readonly remedy: string;
}

/** What a doctor can find wrong, by the names that programs know it by. */
export type Diagnoses = Readonly<Record<string, Diagnosis>>;

/** The remedy with the names of a case in place of the capitals. */
export function remedyOf({ remedy }: Diagnosis, names: Readonly<Record<string, string>> = {}): string {
  return remedy.replaceAll(/[A-Z]+/g, (word) => getOwn(names, word) ?? word);
}

/** So many objects are looked at at once. */
const AT_ONCE = 16;

/** Looks at objects, some at once. @returns a finding for each, in their order */
export async function examineEach<T>(
  objects: readonly T[],
  lookAt: (object: T) => Promise<Finding>,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const waiting = objects.entries();
  const work = async () => {
    for (const [place, object] of waiting) findings[place] = await lookAt(object);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return findings;
}

/** Makes the finding that something could not be looked at. */
export function uncheckedBy(subject: string, error: unknown): Finding {
  const missing = error instanceof MissingPermission && { missingPermission: error.permission };
  return { status: 'unchecked', subject, seen: describeError(error), ...missing };
}

/** One thing that was looked at, and how it was found. */
export type Finding = Sound | Problem | Unchecked;

/** As it should be; or worth a note, though nothing is wrong. */
interface Sound {
  readonly status: 'ok' | 'note';
  /** `API server`, `node "a"`, `pod default/web`. */
  readonly subject: string;
  readonly seen: string;
}

/** Not as it should be. */
interface Problem {
  readonly status: 'failed';
  readonly subject: string;
  readonly seen: string;
  /** The name of the diagnosis, for programs. */
  readonly diagnosis: string;
  /** Its title, for people. */
  readonly title: string;
  readonly remedy: string;
}

/** Could not be looked at. */
interface Unchecked {
  readonly status: 'unchecked';
  readonly subject: string;
  /** Why not. */
  readonly seen: string;
  /** As in `list nodes`, where that is why. */
  readonly missingPermission?: string;
}

/** Makes the finding that something is as it should be. */
export function ok(subject: string, seen: string): Finding {
  return { status: 'ok', subject, seen };
}

/** Makes the finding that something is worth knowing. */
export function note(subject: string, seen: string): Finding {
  return { status: 'note', subject, seen };
}

/** Makes the finding that something is wrong; the names are those of the case, for its remedy. */
export type Fail<Code extends string = string> = (
  subject: string,
  seen: string,
  diagnosis: { readonly diagnosis: Code } & Readonly<Record<string, string>>,
) => Finding;

/** Has findings made by the diagnoses of a doctor, or of a part of one. */
export function failedBy<const D extends Diagnoses>(diagnoses: D): Fail<Extract<keyof D, string>> {
  return (subject, seen, { diagnosis: code, ...names }) => {
    const diagnosis = diagnoses[code] as Diagnosis;
    const { title } = diagnosis;
    return {
      status: 'failed',
      subject,
      seen,
      diagnosis: code,
      title,
      remedy: remedyOf(diagnosis, names),
    };
  };
}
