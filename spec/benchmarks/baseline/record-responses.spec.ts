import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { CertificateAuthority } from '#simulator/access/certificate-authority.ts';
import type { LoadRequest } from '../load/send.ts';
import { type RecordedResponses, recordResponses, responseKey } from './record-responses.ts';

describe('recordResponses', () => {
  const { certificatePem: cert, privateKeyPem: key } = new CertificateAuthority('test').issue({
    subject: { commonName: 'both' },
    usages: ['serverAuth', 'clientAuth'],
    names: ['127.0.0.1'],
  });
  const request = { path: '/a', mediaType: 'application/json', gzip: false };

  async function record(requests: readonly LoadRequest[]): Promise<RecordedResponses> {
    await using stack = new AsyncDisposableStack();
    const server = createSecureServer({ cert, key }, ({ url, headers }, response) => {
      const encoding = headers['accept-encoding'] === 'gzip' ? { 'content-encoding': 'gzip' } : {};
      response.writeHead(url === '/a' ? 200 : 403, { 'content-type': 'application/json', ...encoding });
      response.end(headers['accept-encoding'] === 'gzip' ? gzipSync('long') : 'long');
    });
    server.listen(0, '127.0.0.1');
    stack.defer(() => void server.close());
    await once(server, 'listening');
    const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return await recordResponses({ origin, tls: { cert, key }, requests });
  }

  it('records the bytes on the wire, and the headers that describe them', async () => {
    const responses = await record([request, { ...request, gzip: true }]);
    const requested = (encoding: string) =>
      responseKey({ url: '/a', headers: { accept: 'application/json', 'accept-encoding': encoding } });
    expect([...responses]).to.deep.equal([
      [requested('identity'), { headers: { 'content-type': 'application/json' }, body: Buffer.from('long') }],
      [
        requested('gzip'),
        {
          headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
          body: gzipSync('long'),
        },
      ],
    ]);
  });

  it('records no refusal', async () => {
    const failure = await record([{ ...request, path: '/b' }]).catch((error: Error) => error.message);
    expect(failure).to.match(/^Cannot measure \/b .* was 403/);
  });
});
