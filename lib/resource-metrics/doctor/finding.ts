import { type DiagnosisCode, remedyOf } from './diagnoses.ts';

/** One thing that was looked at, and how it was found. */
export type Finding = Sound | Faulty | Unchecked;

/** As it should be; or worth a note, though nothing is wrong. */
export interface Sound {
  readonly status: 'ok' | 'note';
  /** `API server`, `node "a"`, `pod default/web`. */
  readonly subject: string;
  readonly seen: string;
}

/** Not as it should be. */
export interface Faulty {
  readonly status: 'failed';
  readonly subject: string;
  readonly seen: string;
  readonly diagnosis: DiagnosisCode;
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

/** Makes the finding that something is wrong; `names` are those of the case, for its remedy. */
export function failed(
  subject: string,
  seen: string,
  { diagnosis, ...names }: { readonly diagnosis: DiagnosisCode } & Readonly<Record<string, string>>,
): Finding {
  return { status: 'failed', subject, seen, diagnosis, remedy: remedyOf(diagnosis, names) };
}
