import type { VersionInfo } from '#lib/apiserver/discovery/version-info.ts';
import { exposition, type SeriesFamily } from '#lib/telemetry/exposition.ts';
import type { SlicedSeries } from '#lib/telemetry/sliced-registry.ts';

/** `keda_build_info`, under the labels that dashboards join by: what they know as a version of Go is one of Node. */
export function buildSeries({ gitVersion, gitCommit, goVersion, platform }: VersionInfo): SlicedSeries {
  const [goos = '', goarch = ''] = platform.split('/');
  const labels = { version: gitVersion, git_commit: gitCommit, goversion: goVersion, goos, goarch };
  const family: SeriesFamily<undefined> = {
    name: 'keda_build_info',
    help: 'What this program is and runs on',
    type: 'gauge',
    samples: () => [{ labels, value: 1 }],
  };
  return exposition([family], () => [undefined]);
}
