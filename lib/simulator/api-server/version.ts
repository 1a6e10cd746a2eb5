/** What `/version` tells: the Kubernetes that this API server behaves like. */
export const VERSION = {
  major: '1',
  minor: '34',
  emulationMajor: '1',
  emulationMinor: '34',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '33',
  gitVersion: 'v1.34.2',
  gitCommit: 'simulated',
  gitTreeState: 'clean',
  buildDate: '2026-01-01T00:00:00Z',
  goVersion: 'go1.24.9',
  compiler: 'gc',
  platform: 'linux/amd64',
} as const;
