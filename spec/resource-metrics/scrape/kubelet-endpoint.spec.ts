import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { kubeletEndpoints } from '#lib/resource-metrics/scrape/kubelet-endpoint.ts';

const FIXTURES = new URL('../../fixtures/kubelet/series/', import.meta.url);
const ORIGIN = { nodeName: 'lab-node', requestedAtMs: 5, receivedAtMs: 7, receivedAtWallMs: 9 };

describe('kubeletEndpoints', () => {
  it('asks for the full summary only for the sake of storage', () => {
    const slim = '/stats/summary?only_cpu_and_memory=true';
    expect(kubeletEndpoints().summary.path).to.equal(slim);
    expect(kubeletEndpoints(new Set(['swap'])).summary.path).to.equal(slim);
    expect(kubeletEndpoints(new Set(['ephemeral-storage'])).summary.path).to.equal('/stats/summary');
    expect(kubeletEndpoints(new Set(['ephemeral-storage'])).resource.path).to.equal('/metrics/resource');
  });

  for (const [endpoint, files] of [
    ['summary', ['t0-summary.json', 't1-summary.json']],
    ['resource', ['t0-metrics-resource.txt', 't1-metrics-resource.txt']],
  ] as const) {
    it(`reads what ${endpoint} responds so that its buffer can be used for the next response`, async () => {
      const { decode } = kubeletEndpoints(new Set(['swap', 'ephemeral-storage']))[endpoint];
      const bodies = await Promise.all(files.map((file) => readFile(new URL(file, FIXTURES))));
      const place = Buffer.alloc(Math.max(...bodies.map(({ length }) => length)));
      const responses = bodies.map((body) => {
        body.copy(place);
        return decode(place.subarray(0, body.length), ORIGIN);
      });
      place.fill('x');
      expect(responses).to.deep.equal(bodies.map((body) => decode(body, ORIGIN)));
      expect(responses[0]?.pods).not.to.deep.equal(responses[1]?.pods);
    });
  }
});
