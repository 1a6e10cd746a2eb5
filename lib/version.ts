import type { VersionInfo } from '#lib/apiserver/discovery/version-info.ts';
import packageJson from '../package.json' with { type: 'json' };

/** The Kubernetes API level that the reference reports, and so the one that clients adapt to. */
const KUBERNETES = { major: '1', minor: '33' };

/** What this build is and runs on. */
export function versionInfo(runtime: {
  readonly version: string;
  readonly platform: string;
  readonly arch: string;
}): VersionInfo {
  return {
    ...KUBERNETES,
    gitVersion: `v${packageJson.version}`,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '1970-01-01T00:00:00Z',
    goVersion: `node${runtime.version}`,
    compiler: 'v8',
    platform: `${runtime.platform}/${runtime.arch === 'x64' ? 'amd64' : runtime.arch}`,
  };
}
