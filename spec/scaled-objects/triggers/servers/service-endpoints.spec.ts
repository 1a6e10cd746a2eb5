import { expect } from 'chai';
import { endpointUrls } from '#lib/scaled-objects/triggers/servers/service-endpoints.ts';

describe('endpointUrls', () => {
  it('keep the path and the query, which may hold the key, at each address once', () => {
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
