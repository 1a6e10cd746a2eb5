/** What `/version` tells, in the order given: `version.Info` of Kubernetes. */
export interface VersionInfo {
  /** Those of the Kubernetes API that is served, not of this program. */
  readonly major: string;
  readonly minor: string;
  /** Which Kubernetes the server behaves as, and from which on it works with others. */
  readonly emulationMajor?: string;
  readonly emulationMinor?: string;
  readonly minCompatibilityMajor?: string;
  readonly minCompatibilityMinor?: string;
  /** This program's version. */
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
  /** What the program runs on, under the name that clients read it by. */
  readonly goVersion: string;
  readonly compiler: string;
  readonly platform: string;
}
