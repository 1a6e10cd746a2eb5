import { expect } from 'chai';
import { examine, startExaminedCluster } from '#spec/support/examined-cluster.ts';

describe('containerData', () => {
  it('names containers and missing values, and the pods without metrics', async () => {
    const containers = [{ name: 'app' }, { name: 'side', unknown: ['memory' as const] }];
    await using server = await startExaminedCluster({
      nodes: 1,
      pods: [{ name: 'lacking', node: 'node-1', containers, startedSecondsAgo: 600 }],
    });
    const { diagnoses, findings } = await examine(server);
    expect(diagnoses).to.deep.equal(['container-without-data', 'container-without-data']);
    expect(
      findings.filter(({ status }) => status === 'failed').map(({ subject, seen }) => [subject, seen]),
    ).to.deep.equal([
      ['pod default/lacking', 'on node "node-1": container "side" has no working set'],
      ['pod default/lacking', 'container "side" has no working set'],
    ]);
  });
});
