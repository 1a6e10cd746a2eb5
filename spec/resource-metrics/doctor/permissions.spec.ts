import { expect } from 'chai';
import { METRICS_SERVER_USER } from '#simulator/access/default-grants.ts';
import { examine, startExaminedCluster } from '#spec/support/examined-cluster.ts';

describe('permissions', () => {
  it('reports each missing verb with the commands that grant it', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    server.cluster.rbac.revoke('metrics-server:system:auth-delegator');
    server.cluster.rbac.revoke('metrics-server-auth-reader');
    const { checks } = await examine(server);
    const { findings = [] } = checks.find(({ name }) => name === 'permissions') ?? {};
    const failed = findings.filter(({ status }) => status === 'failed');
    expect(failed.map(({ subject }) => subject)).to.deep.equal([
      'create tokenreviews',
      'create subjectaccessreviews',
      'get configmaps extension-apiserver-authentication',
      'list configmaps extension-apiserver-authentication',
      'watch configmaps extension-apiserver-authentication',
    ]);
    expect(failed[0])
      .to.have.property('remedy')
      .which.includes(
        'kubectl create clusterrole metrics-server-create-tokenreviews --verb=create --resource=tokenreviews.authentication.k8s.io',
      )
      .and.includes(`--user=${METRICS_SERVER_USER}`);
  });

  it('notes that the summary is not granted if the other endpoint is', async () => {
    await using server = await startExaminedCluster({ nodes: 1, kubeletAccess: ['nodes/metrics'] });
    const { isSound, findings } = await examine(server);
    expect(isSound).to.equal(true);
    expect(findings).to.deep.include({
      status: 'note',
      subject: 'get nodes/stats',
      seen: 'not granted; kubelets are scraped at /metrics/resource instead',
    });
  });

  it('checks the permissions of --server-account', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    const flag = '--server-account=system:serviceaccount:kube-system:other';
    const { diagnoses } = await examine(server, [flag]);
    expect(new Set(diagnoses)).to.deep.equal(new Set(['permission-missing']));
    expect(diagnoses).to.have.length(11);
  });
});
