import { once } from 'node:events';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { CertificateAuthority } from '#lib/simulator/pki/certificate-authority.ts';
import type { Question } from '../load/ask.ts';
import { answerKey, type RecordedAnswers, recordAnswers } from './record-answers.ts';

describe('recordAnswers', () => {
  const { certificatePem: cert, privateKeyPem: key } = new CertificateAuthority('test').issue({
    subject: { commonName: 'both' },
    usages: ['serverAuth', 'clientAuth'],
    names: ['127.0.0.1'],
  });
  const question = { path: '/a', mediaType: 'application/json', gzip: false };

  async function record(questions: readonly Question[]): Promise<RecordedAnswers> {
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
    return await recordAnswers({ origin, tls: { cert, key }, questions });
  }

  it('keeps what went over the wire, and the headers that tell of it', async () => {
    const answers = await record([question, { ...question, gzip: true }]);
    const asked = (encoding: string) =>
      answerKey({ url: '/a', headers: { accept: 'application/json', 'accept-encoding': encoding } });
    expect([...answers]).to.deep.equal([
      [asked('identity'), { headers: { 'content-type': 'application/json' }, body: Buffer.from('long') }],
      [
        asked('gzip'),
        {
          headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
          body: gzipSync('long'),
        },
      ],
    ]);
  });

  it('keeps no refusal', async () => {
    const failure = await record([{ ...question, path: '/b' }]).catch((error: Error) => error.message);
    expect(failure).to.match(/^Cannot measure \/b .* was 403/);
  });
});
