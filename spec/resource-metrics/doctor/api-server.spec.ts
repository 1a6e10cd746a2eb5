import { expect } from 'chai';
import { examine, startExaminedCluster } from '#spec/support/examined-cluster.ts';

describe('apiServer', () => {
  it('reports that the API server does not respond, and stops', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    await server.cluster.apiServer[Symbol.asyncDispose]();
    const { isSound, checks, findings } = await examine(server);
    expect(isSound).to.equal(false);
    expect(checks).to.have.length(1);
    expect(findings[0]).to.deep.include({ status: 'failed', diagnosis: 'api-server-unreachable' });
    expect(findings[0]?.seen).to.include('connection refused');
    expect(findings[0])
      .to.have.property('remedy')
      .which.includes(`Check that the API server listens at ${server.cluster.server} `);
  });

  it('reports that credentials are rejected', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    server.cluster.authenticator.revokeToken(server.cluster.metricsServerToken);
    const { diagnoses } = await examine(server);
    expect(diagnoses).to.deep.equal(['api-server-refuses-credentials']);
  });
});
