import { expect } from 'chai';
import { ScaleClient } from '#lib/control/scale-client.ts';
import { checkTarget } from '#lib/control/target-check.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { refuseRequests } from '#simulator/api-server/faults.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

describe('checkTarget', () => {
  it('returns the scale of a target, or why it cannot be scaled, and throws what prevents the check', async () => {
    await using server = await startSimulatedApiServer({ scenario: { nodes: 1, podsPerNode: 1 } });
    const { clock } = server;
    await using client = new ApiClient({ access: await server.access(), clock, userAgent: 'spec' });
    const scales = new ScaleClient({ api: client, clock, mapper: new RestMapper({ api: client, clock }) });
    const check = (kind: string, name: string, apiVersion = 'apps/v1') =>
      checkTarget({ namespace: 'default', apiVersion, kind, name }, scales, new AbortController().signal);
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web' },
      spec: {
        replicas: 3,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'main', image: 'nginx' }] },
        },
      },
    };
    await server.client.post('/apis/apps/v1/namespaces/default/deployments', deployment);
    expect(await check('Deployment', 'web')).to.have.nested.property('scale.specReplicas', 3);
    expect(await check('Deployment', 'nowhere')).to.deep.equal({
      reason: 'NotFound',
      problem: 'deployments.apps "nowhere" not found in namespace default',
    });
    expect(await check('Till', 'web')).to.deep.equal({
      reason: 'UnknownKind',
      problem: 'Cannot scale apps/v1 Till default/web: the API server does not serve its kind',
    });
    expect(await check('ConfigMap', 'web', 'v1')).to.deep.equal({
      reason: 'NoScaleSubresource',
      problem: 'Cannot scale v1 ConfigMap default/web: configmaps have no scale subresource',
    });
    server.cluster.apiServer.setFaults(refuseRequests({ code: 403, reason: 'Forbidden' }));
    expect(await errorOf(check('Deployment', 'web'))).to.include('(status 403)');
  });
});
