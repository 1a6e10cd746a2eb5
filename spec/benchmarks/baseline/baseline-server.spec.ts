import { expect } from 'chai';
import { Client } from 'undici';
import { CertificateAuthority } from '#simulator/access/certificate-authority.ts';
import { type LoadRequest, type ResponseHeaders, receive } from '../load/send.ts';
import { startBaselineServer } from './baseline-server.ts';
import { responseKey } from './record-responses.ts';

describe('startBaselineServer', () => {
  const { certificatePem: cert, privateKeyPem: key } = new CertificateAuthority('test').issue({
    subject: { commonName: 'baseline' },
    usages: ['serverAuth'],
    names: ['127.0.0.1'],
  });
  const body = Buffer.from([1, 2, 3]);
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const request = { path: '/a?b=c', mediaType: 'application/json', gzip: true };
  const requested = { url: '/a?b=c', headers: { accept: 'application/json', 'accept-encoding': 'gzip' } };

  async function send(changes: Partial<LoadRequest>, allowH2: boolean): Promise<[ResponseHeaders, Buffer]> {
    await using stack = new AsyncDisposableStack();
    const responses = new Map([[responseKey(requested), { headers, body }]]);
    const baseline = stack.use(await startBaselineServer(responses, { cert, key }));
    const client = new Client(baseline.origin, { connect: { rejectUnauthorized: false }, allowH2 });
    stack.defer(() => client.close());
    const chunks: Buffer[] = [];
    const responseHeaders = await receive(client, { ...request, ...changes }, (chunk) => chunks.push(chunk));
    return [responseHeaders, Buffer.concat(chunks)];
  }

  for (const allowH2 of [false, true]) {
    it(`responds over HTTP/${allowH2 ? '2' : '1.1'} with the bytes and headers that it was given`, async () => {
      const [responseHeaders, received] = await send({}, allowH2);
      expect(received).to.deep.equal(body);
      expect(responseHeaders).to.include({ ...headers, 'content-length': '3' });
    });
  }

  it('responds to nothing else', async () => {
    for (const change of [{ path: '/a' }, { gzip: false }, { mediaType: 'application/yaml' }]) {
      const failure = await send(change, false).catch((error: Error) => error.message);
      expect(failure).to.match(/the response was 404/);
    }
  });
});
