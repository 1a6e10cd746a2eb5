import { expect } from 'chai';
import { listEndpoints } from '#lib/scaled-objects/triggers/cluster/list-endpoints.ts';
import { startJsonApi } from '#spec/support/json-api.ts';

const SLICE = {
  metadata: { name: 'shop-1' },
  endpoints: [
    { addresses: ['10.0.0.1', 'fd00::1'], conditions: { ready: true } },
    { addresses: ['10.0.0.2'], conditions: { ready: false } },
    { addresses: ['10.0.0.3'] },
  ],
  ports: [{ port: 8080 }, {}],
};

describe('listEndpoints', () => {
  for (const version of ['v1', 'v1beta1'])
    it(`lists addresses that are ready, by EndpointSlices of ${version}`, async () => {
      await using api = await startJsonApi(({ url }) =>
        url.pathname.startsWith(`/apis/discovery.k8s.io/${version}/`)
          ? {
              metadata: { resourceVersion: '1' },
              items: [SLICE, { metadata: { name: 'empty' }, ports: null }],
            }
          : { code: 404, reason: 'NotFound' },
      );
      const { signal } = new AbortController();
      const found = await listEndpoints(api.api)({ namespace: 'orders', service: 'shop' }, signal);
      expect(found).to.deep.equal([
        { addresses: ['10.0.0.1', '10.0.0.3'], ports: [8080] },
        { addresses: [], ports: [] },
      ]);
      expect(api.asked.at(-1)).to.match(
        new RegExp(
          `^GET /apis/discovery.k8s.io/${version}/namespaces/orders/endpointslices\\?.*kubernetes.io%2Fservice-name%3Dshop`,
        ),
      );
    });
});
