import { objectOf, type Schemas, text } from '#lib/apiserver/encoding/schema.ts';

/** Response of `/version`, in the order given: `version.Info` of Kubernetes. */
export interface VersionInfo {
  /** Of the Kubernetes API that is served, not of this program. */
  readonly major: string;
  readonly minor: string;
  /** The Kubernetes version that the server emulates, and the minimum that it is compatible with. */
  readonly emulationMajor?: string;
  readonly emulationMinor?: string;
  readonly minCompatibilityMajor?: string;
  readonly minCompatibilityMinor?: string;
  /** This program's version. */
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
  /** The runtime, in the field that clients read. */
  readonly goVersion: string;
  readonly compiler: string;
  readonly platform: string;
}

export const VERSION_SCHEMA = 'io.k8s.apimachinery.pkg.version.Info';

export const VERSION_SCHEMAS: Schemas = {
  [VERSION_SCHEMA]: objectOf('The version of the server.', {
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
      buildDate: text('When the program was built.'),
      compiler: text('The compiler that built the program.'),
      emulationMajor: text('The major version of Kubernetes that the program emulates.'),
      emulationMinor: text('The minor version of Kubernetes that the program emulates.'),
      gitCommit: text('The commit that the program was built from.'),
      gitTreeState: text('Whether the source tree had uncommitted changes.'),
      gitVersion: text('The version of the program.'),
      goVersion: text('The runtime that the program runs on.'),
      major: text('The major version of the Kubernetes API that the program serves.'),
      minCompatibilityMajor: text(
        'The minimum major version of Kubernetes that the program is compatible with.',
      ),
      minCompatibilityMinor: text(
        'The minimum minor version of Kubernetes that the program is compatible with.',
      ),
      minor: text('The minor version of the Kubernetes API that the program serves.'),
      platform: text('The operating system and processor that the program runs on.'),
    },
  }),
};
