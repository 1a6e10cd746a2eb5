import { objectOf, type Schemas, text } from '#lib/apiserver/encoding/schema.ts';

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

/** The name of its schema. */
export const VERSION_SCHEMA = 'io.k8s.apimachinery.pkg.version.Info';

/** How it is described. */
export const VERSION_SCHEMAS: Schemas = {
  [VERSION_SCHEMA]: objectOf('Which version of the server this is.', {
    required: [
      'major',
      'minor',
      'gitVersion',
      'gitCommit',
      'gitTreeState',
      'buildDate',
      'goVersion',
      'compiler',
      'platform',
    ],
    properties: {
      buildDate: text('When it was built.'),
      compiler: text('What it was built with.'),
      emulationMajor: text('The major version of Kubernetes that it behaves as.'),
      emulationMinor: text('The minor version of Kubernetes that it behaves as.'),
      gitCommit: text('The commit that it was built from.'),
      gitTreeState: text('Whether that commit was changed before it was built.'),
      gitVersion: text('Its version.'),
      goVersion: text('What it runs on.'),
      major: text('The major version of Kubernetes that its API belongs to.'),
      minCompatibilityMajor: text('The major version of Kubernetes that it can work with at least.'),
      minCompatibilityMinor: text('The minor version of Kubernetes that it can work with at least.'),
      minor: text('The minor version of Kubernetes that its API belongs to.'),
      platform: text('The operating system and processor that it runs on.'),
    },
  }),
};
