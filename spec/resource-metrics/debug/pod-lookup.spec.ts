import { expect } from 'chai';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { PodLookup } from '#lib/resource-metrics/debug/pod-lookup.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('PodLookup', () => {
  const responding = (response: unknown) => {
    const requested: string[] = [];
    const client = {
      getJson: async (path: string) => {
        requested.push(path);
        if (response instanceof Error) throw response;
        return response;
      },
    };
    const clock = new ManualClock();
    return { requested, clock, lookup: new PodLookup({ client, clock }) };
  };

  it('looks up a pod by a list, which the server is permitted', async () => {
    const pod = {
      spec: { nodeName: 'node-1' },
      status: { phase: 'Running', startTime: '2026-01-01T00:00:00Z' },
    };
    const { requested, lookup } = responding({ items: [pod] });
    expect(await lookup.find('default', 'web')).to.deep.equal({
      kind: 'found',
      nodeName: 'node-1',
      phase: 'Running',
      startedAtMs: Date.UTC(2026, 0, 1),
    });
    expect(requested).to.deep.equal(['/api/v1/namespaces/default/pods?fieldSelector=metadata.name%3Dweb']);
  });

  it('reports a missing pod, and a missing permission', async () => {
    expect(await responding({ items: null }).lookup.find('default', 'web')).to.deep.equal({ kind: 'absent' });
    const refusal = new ApiError('no', { statusCode: 403, reason: 'Forbidden', retryAfterMs: undefined });
    expect(await responding(refusal).lookup.find('default', 'web')).to.deep.equal({
      kind: 'unknown',
      because: 'the permission to list pods is missing',
    });
  });

  it('sends at most ten requests in ten seconds', async () => {
    const { requested, clock, lookup } = responding({ items: [] });
    for (let index = 0; index < 12; index++) await lookup.find('default', `web-${index}`);
    expect(requested).to.have.length(10);
    expect(await lookup.find('default', 'web')).to.have.property('kind', 'unknown');
    await clock.advance(10_000);
    expect(await lookup.find('default', 'web')).to.deep.equal({ kind: 'absent' });
  });
});
