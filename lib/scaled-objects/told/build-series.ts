import type { SlicedSeries } from '#lib/telemetry/sliced-registry.ts';
import { exposition, type SeriesFamily } from './exposition.ts';

/** What runs, and on what. */
export interface Build {
  readonly version: string;
  /** Node's own, with its `v`. */
  readonly nodeVersion: string;
  readonly platform: string;
  readonly arch: string;
}

/** `keda_build_info`, under the labels that dashboards join by: what they know as a version of Go is one of Node. */
export function buildSeries({ version, nodeVersion, platform, arch }: Build): SlicedSeries {
  const labels = {
    ...{ version, git_commit: '', goversion: `node${nodeVersion}`, goos: platform },
    goarch: arch === 'x64' ? 'amd64' : arch,
  };
  const family: SeriesFamily<undefined> = {
    name: 'keda_build_info',
    help: 'What this program is and runs on',
    type: 'gauge',
    samples: () => [{ labels, value: 1 }],
  };
  return exposition([family], () => [undefined]);
}
