import { expect } from 'chai';
import { listEndpoints } from '#lib/scaled-objects/triggers/cluster-lookups.ts';
import { endpointUrls } from '#lib/scaled-objects/triggers/metrics-api.ts';
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
      expect(api.requested.at(-1)).to.match(
        new RegExp(
          `^GET /apis/discovery.k8s.io/${version}/namespaces/orders/endpointslices\\?.*kubernetes.io%2Fservice-name%3Dshop`,
        ),
      );
    });

  it('lists a pod of both address families once, by IPv4 where it is ready there', async () => {
    const endpoint = (address: string, uid: string | undefined, ready = true) => ({
      addresses: [address],
      conditions: { ready },
      ...(uid === undefined ? {} : { targetRef: { kind: 'Pod', uid } }),
    });
    const slice = (addressType: string, endpoints: readonly unknown[]) => ({
      metadata: { name: `shop-${addressType.toLowerCase()}` },
      ...{ addressType, endpoints, ports: [{ port: 8080 }] },
    });
    await using api = await startJsonApi(() => ({
      metadata: { resourceVersion: '1' },
      items: [
        slice('IPv6', [
          endpoint('fd00::1', 'a'),
          endpoint('fd00::2', 'b'),
          endpoint('fd00::3', 'c'),
          endpoint('fd00::4', undefined),
        ]),
        slice('IPv4', [
          endpoint('10.0.0.1', 'a'),
          endpoint('10.0.0.2', 'b', false),
          endpoint('10.0.0.4', undefined),
          endpoint('10.0.0.5', 'd'),
        ]),
      ],
    }));
    const { signal } = new AbortController();
    const found = await listEndpoints(api.api)({ namespace: 'orders', service: 'shop' }, signal);
    expect(found).to.deep.equal([
      { addresses: ['fd00::2', 'fd00::3', 'fd00::4'], ports: [8080] },
      { addresses: ['10.0.0.1', '10.0.0.4', '10.0.0.5'], ports: [8080] },
    ]);
  });
});

describe('endpointUrls', () => {
  it('retain the path and the query, which may contain the key, once for each address', () => {
    const urls = endpointUrls(new URL('https://shop.orders:8443/depth?queue=a%20b&api_key=k'), [
      { addresses: ['10.0.0.1', 'fd00::1'], ports: [8443] },
      { addresses: ['10.0.0.1', '10.0.0.2'], ports: [9] },
    ]);
    expect(urls.map(({ href }) => href)).to.deep.equal([
      'https://10.0.0.1:8443/depth?queue=a%20b&api_key=k',
      'https://[fd00::1]:8443/depth?queue=a%20b&api_key=k',
      'https://10.0.0.2/depth?queue=a%20b&api_key=k',
    ]);
  });
});
