import { expect } from 'chai';
import type { KubeletResponse } from '#simulator/kubelet/kubelet-http.ts';
import { examine, startExaminedCluster } from '#spec/support/examined-cluster.ts';

describe('nodeClocks', () => {
  for (const [skewMs, words] of [
    [120_000, 'ahead of the local clock'],
    [-300_000, 'behind the local clock'],
  ] as const) {
    it(`reports a clock that is ${words}`, async () => {
      await using server = await startExaminedCluster({
        nodes: 1,
        nodeOverrides: { 'node-1': { clockSkewMs: skewMs } },
      });
      const { diagnoses, findings } = await examine(server);
      expect(diagnoses).to.deep.equal(['node-clock-skewed']);
      const found = findings.find(({ status }) => status === 'failed');
      expect(found?.seen).to.include(words);
      expect(found).to.have.property('remedy').which.includes('Correct the clock of node-1');
    });
  }

  it('notes samples without timestamps, which do not prove a correct clock', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    const change = (response: KubeletResponse) => {
      const unstamped = response.body.toString().replaceAll(/^([a-z].* \S+) \d+$/gm, '$1');
      return { ...response, body: Buffer.from(unstamped) };
    };
    await server.cluster.setFault('node-1', { change });
    const { isSound, checks } = await examine(server, ['--kubelet-metrics-endpoint=resource']);
    expect(isSound).to.equal(true);
    expect(checks.find(({ name }) => name === 'node-clocks')?.findings).to.deep.equal([
      {
        status: 'note',
        subject: 'node "node-1"',
        seen: 'its samples have no timestamps; the time of the response is used',
      },
    ]);
  });
});
