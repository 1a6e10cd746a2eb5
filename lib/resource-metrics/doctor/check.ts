import type { DoctorContext } from './doctor-context.ts';
import type { Finding } from './finding.ts';

/** Something that can be wrong with a cluster, and how to look. */
export interface Check {
  /** For programs. */
  readonly name: string;
  /** What is looked at, for people. */
  readonly title: string;

  /**
   * Looks.
   *
   * @throws {MissingRight} and whatever else keeps it from looking: the runner makes a finding of that
   */
  run(context: DoctorContext): Promise<readonly Finding[]>;
}

/** A right without which a check cannot look. */
export class MissingRight extends Error {
  /** As in `list nodes`. */
  readonly right: string;

  constructor(right: string, cause: unknown) {
    super(`the right to ${right} is missing`, { cause });
    this.right = right;
  }
}
