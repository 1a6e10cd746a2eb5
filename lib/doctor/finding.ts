import { type Diagnoses, type Diagnosis, remedyOf } from './diagnosis.ts';

/** One thing that was looked at, and how it was found. */
export type Finding = Sound | Problem | Unchecked;

/** As it should be; or worth a note, though nothing is wrong. */
export interface Sound {
  readonly status: 'ok' | 'note';
  /** `API server`, `node "a"`, `pod default/web`. */
  readonly subject: string;
  readonly seen: string;
}

/** Not as it should be. */
export interface Problem {
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
export interface Unchecked {
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
