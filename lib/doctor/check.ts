import type { ApiContext } from './cluster-context.ts';
import type { Finding } from './finding.ts';

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
