import { expect } from 'chai';
import { examine, startExaminedCluster } from '#spec/support/examined-cluster.ts';
import type { RunningServer } from '#spec/support/running-server.ts';

describe('aggregationLayer', () => {
  it('reports that the API server does not forward requests', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    changeConfigMap(server, ({ 'client-ca-file': ca = '' }) => ({ 'client-ca-file': ca }));
    const { diagnoses } = await examine(server);
    expect(diagnoses).to.include('aggregation-off');
  });

  it("reports that --requestheader-client-ca-file differs from the cluster's", async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    const { frontProxyCa, kubeletCa } = server.cluster.files;
    expect(
      (await examine(server, [`--requestheader-client-ca-file=${frontProxyCa}`])).diagnoses,
    ).to.deep.equal([]);
    const { findings, diagnoses } = await examine(server, [`--requestheader-client-ca-file=${kubeletCa}`]);
    expect(diagnoses).to.deep.equal(['front-proxy-ca-differs']);
    expect(findings.find(({ status }) => status === 'failed'))
      .to.have.property('remedy')
      .which.includes(`> ${kubeletCa}`);
  });

  it("reports that --requestheader-allowed-names lacks a name of the cluster's", async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    const { findings, diagnoses } = await examine(server, [
      `--requestheader-client-ca-file=${server.cluster.files.frontProxyCa}`,
      '--requestheader-allowed-names=other-name',
    ]);
    expect(diagnoses).to.deep.equal(['front-proxy-names-differ']);
    expect(findings.find(({ status }) => status === 'failed'))
      .to.have.property('remedy')
      .which.includes('all names that the cluster allows: front-proxy-client');
  });

  it('suggests to remove the flag if the cluster allows any name', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    changeConfigMap(server, (data) => ({ ...data, 'requestheader-allowed-names': '[]' }));
    const { findings, diagnoses } = await examine(server, [
      `--requestheader-client-ca-file=${server.cluster.files.frontProxyCa}`,
      '--requestheader-allowed-names=other-name',
    ]);
    expect(diagnoses).to.deep.equal(['front-proxy-names-differ']);
    expect(findings.find(({ status }) => status === 'failed'))
      .to.have.property('remedy')
      .which.matches(/all names that the cluster allows: any \(remove the flag\)\.$/);
  });

  it('reports that the CA has expired', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    server.clock.stepWall(20 * 365 * 86_400_000);
    const { diagnoses } = await examine(server);
    expect(diagnoses).to.include('front-proxy-ca-expired');
  });
});

type Data = Readonly<Record<string, string>>;

function changeConfigMap({ cluster }: RunningServer, change: (data: Data) => Data): void {
  const object = cluster.store.get('configmaps', 'kube-system', 'extension-apiserver-authentication');
  if (!object) throw new Error('there is no config map');
  cluster.store.update('configmaps', { ...object, data: change(object.data as Data) });
}
