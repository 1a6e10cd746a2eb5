import { expect } from 'chai';
import type { HealthEndpoint } from '#lib/apiserver/health/health-check.ts';
import { type Checked, healthChecks } from '#lib/resource-metrics/health-checks.ts';

const HEALTHY: Checked = {
  sink: { isReady: true },
  manager: { isTimely: true },
  nodes: { isSynced: true },
  pods: { isSynced: true },
};

/** The names of the checks of an endpoint that fail. */
function failing(endpoint: HealthEndpoint, changes: Partial<Checked> = {}): readonly string[] {
  const checks = healthChecks({ ...HEALTHY, ...changes }).filter(({ endpoints }) =>
    endpoints.includes(endpoint),
  );
  return checks.filter(({ check }) => check() !== undefined).map(({ name }) => name);
}

describe('healthChecks', () => {
  it('pass when all is well', () => {
    for (const endpoint of ['healthz', 'livez', 'readyz'] as const)
      expect(failing(endpoint)).to.deep.equal([]);
  });

  it('are ready only with metrics, nodes and pods', () => {
    expect(failing('readyz', { sink: { isReady: false } })).to.deep.equal(['metric-storage-ready']);
    expect(failing('readyz', { nodes: { isSynced: false } })).to.deep.equal(['metric-informer-sync']);
    expect(failing('readyz', { pods: { isSynced: false } })).to.deep.equal(['metadata-informer-sync']);
  });

  it('are live while cycles begin in time, also when the API server cannot be reached', () => {
    expect(failing('livez', { manager: { isTimely: false } })).to.deep.equal(['metric-collection-timely']);
    const unreachable = { sink: { isReady: false }, nodes: { isSynced: false }, pods: { isSynced: false } };
    expect(failing('livez', unreachable)).to.deep.equal([]);
  });
});
