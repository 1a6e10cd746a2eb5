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
   * @throws {MissingPermission} and any other error that keeps it from looking: the runner makes a finding of it
   */
  run(context: DoctorContext): Promise<readonly Finding[]>;
}
