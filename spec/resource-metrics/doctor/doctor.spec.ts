import { expect } from 'chai';
import { examine, startExaminedCluster } from '#spec/support/examined-cluster.ts';

describe('runDoctor', () => {
  it('finds no problem in a healthy cluster, and runs all checks', async () => {
    await using server = await startExaminedCluster();
    const { isSound, checks, findings } = await examine(server);
    expect(findings.filter(({ status }) => status === 'failed' || status === 'unchecked')).to.deep.equal([]);
    expect(isSound).to.equal(true);
    expect(checks.map(({ name }) => name)).to.deep.equal([
      ...['api-server', 'permissions', 'aggregation-layer', 'api-service', 'node-addresses'],
      ...['kubelet-connections', 'kubelet-certificates', 'kubelet-responses'],
      ...['node-clocks', 'container-data', 'pod-metrics'],
    ]);
  });

  it('checks only the node of --node', async () => {
    await using server = await startExaminedCluster();
    await server.cluster.setFault('node-2', 'refuse');
    const { isSound, findings } = await examine(server, ['--node=node-1']);
    expect(isSound).to.equal(true);
    expect(findings.filter(({ subject }) => subject.includes('node-2'))).to.deep.equal([]);
  });

  it('reports once that the node does not exist', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    const { isSound, checks, findings, diagnoses } = await examine(server, ['--node=nowhere']);
    expect(checks.filter((check) => check.findings.length === 0)).to.deep.equal([]);
    expect(findings).to.deep.include({
      ...{ status: 'note', subject: 'nodes', seen: 'not checked: no object passed the earlier checks' },
    });
    expect(isSound).to.equal(false);
    expect(diagnoses).to.deep.equal(['node-unknown']);
    expect(findings.filter(({ status }) => status === 'unchecked')).to.deep.equal([]);
    expect(findings.find(({ status }) => status === 'failed')).to.include({
      subject: 'node "nowhere"',
      seen: 'does not exist, or --node-selector does not select it',
    });
  });

  it('names missing permissions of checks that cannot run, without failing', async () => {
    await using server = await startExaminedCluster();
    server.cluster.rbac.revoke('doctor');
    const { isSound, findings } = await examine(server);
    expect(isSound).to.equal(true);
    const unchecked = findings.filter(({ status }) => status === 'unchecked');
    expect(unchecked).to.deep.equal([
      {
        status: 'unchecked',
        subject: 'APIService',
        seen: 'the permission to get apiservices.apiregistration.k8s.io v1beta1.metrics.k8s.io is missing',
        missingPermission: 'get apiservices.apiregistration.k8s.io v1beta1.metrics.k8s.io',
      },
      {
        status: 'unchecked',
        subject: 'pods served by metrics.k8s.io',
        seen: 'the permission to list pods.metrics.k8s.io is missing',
        missingPermission: 'list pods.metrics.k8s.io',
      },
    ]);
  });
});
