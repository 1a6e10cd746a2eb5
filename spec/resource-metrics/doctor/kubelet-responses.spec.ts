import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { DiagnosisCode } from '#lib/resource-metrics/doctor/diagnoses.ts';
import type { FaultInput } from '#simulator/kubelet/faults.ts';
import { withAddress } from '#simulator/nodes/node-object.ts';
import { examine, startExaminedCluster } from '#spec/support/examined-cluster.ts';

describe('kubeletResponses', () => {
  const faults: readonly (readonly [string, FaultInput, DiagnosisCode])[] = [
    ['credentials are refused', { status: 401 }, 'kubelet-unauthenticated'],
    ['reading is forbidden', { status: 403 }, 'kubelet-forbidden'],
    ['the endpoint is not there', { status: 404 }, 'kubelet-endpoint-missing'],
    ['the kubelet fails', { status: 500 }, 'kubelet-response-fails'],
    ['the response breaks off', 'reset-mid-body', 'kubelet-response-fails'],
    ['the response is garbage', 'garbage', 'kubelet-response-unreadable'],
    ['the response is too long', { bodyBytes: 2 ** 20 + 1 }, 'kubelet-response-excessive'],
    ['the response is too deep, and long', { nestingLevels: 200_000 }, 'kubelet-response-excessive'],
  ];
  for (const [what, fault, diagnosis] of faults) {
    it(`reports that ${what}`, async () => {
      await using server = await startExaminedCluster();
      await server.cluster.setFault('node-1', fault);
      const { diagnoses, findings } = await examine(server, [`--kubelet-max-response-bytes=${2 ** 20}`]);
      expect(diagnoses).to.deep.equal([diagnosis]);
      expect(findings.find(({ status }) => status === 'failed')).to.include({ subject: 'node "node-1"' });
    });
  }

  it('names the account without permission', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    server.cluster.authenticator.setToken('of-other-user', { username: 'other-user' });
    const kubeconfig = join(server.cluster.files.directory, 'other-user.kubeconfig');
    await writeFile(kubeconfig, server.cluster.kubeconfigFor('other-user', { token: 'of-other-user' }));
    server.cluster.rbac.grant({
      name: 'other-user',
      role: 'other-user',
      users: ['other-user'],
      rules: [{ verbs: ['list'], apiGroups: [''], resources: ['nodes', 'pods'] }],
    });
    const { findings } = await examine(server, [`--kubeconfig=${kubeconfig}`]);
    const remedies = findings.flatMap((finding) => (finding.status === 'failed' ? [finding.remedy] : []));
    expect(remedies[0]).to.include('--clusterrole=metrics-server-get-nodes-stats --user=other-user`');
    expect(remedies.find((remedy) => remedy.includes('authorization.mode'))).to.include(
      ': other-user needs the verb get on nodes/stats and nodes/metrics.',
    );
  });

  it('reports a node with the address of another node', async () => {
    await using server = await startExaminedCluster();
    const { kubeletPort: port, store } = server.cluster;
    const node = store.get('nodes', undefined, 'node-2');
    if (node) store.update('nodes', withAddress(node, { from: '127.1.0.2', address: '127.1.0.1', port }));
    const { diagnoses, findings } = await examine(server);
    expect(diagnoses).to.deep.equal(['kubelet-of-other-node']);
    const finding = findings.find(({ status }) => status === 'failed');
    expect(finding).to.include({
      subject: 'node "node-2"',
      seen: '/stats/summary: the kubelet of node "node-1" responded',
    });
    expect(finding)
      .to.have.property('remedy')
      .that.includes(`Give nodes node-2 and node-1 separate addresses: 127.1.0.1:${port} leads`);
  });

  it('notes that the kubelet denies the summary and responds at the other endpoint', async () => {
    await using server = await startExaminedCluster({ nodes: 1, kubeletAccess: ['nodes/metrics'] });
    const { findings } = await examine(server);
    const found = findings.find(({ seen }) => seen.startsWith('/metrics/resource'));
    expect(found?.status).to.equal('note');
    expect(found?.seen).to.match(
      /^\/metrics\/resource reports 3 pods; \/stats\/summary failed: HTTP status 403/,
    );
  });
});
