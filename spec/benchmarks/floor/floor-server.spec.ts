import { expect } from 'chai';
import { Client } from 'undici';
import { CertificateAuthority } from '#lib/simulator/pki/certificate-authority.ts';
import { type AnswerHeaders, type Question, receive } from '../load/ask.ts';
import { startFloorServer } from './floor-server.ts';
import { answerKey } from './record-answers.ts';

describe('startFloorServer', () => {
  const { certificatePem: cert, privateKeyPem: key } = new CertificateAuthority('test').issue({
    subject: { commonName: 'floor' },
    usages: ['serverAuth'],
    names: ['127.0.0.1'],
  });
  const body = Buffer.from([1, 2, 3]);
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const question = { path: '/a?b=c', mediaType: 'application/json', gzip: true };
  const asked = { url: '/a?b=c', headers: { accept: 'application/json', 'accept-encoding': 'gzip' } };

  async function ask(changes: Partial<Question>, allowH2: boolean): Promise<[AnswerHeaders, Buffer]> {
    await using stack = new AsyncDisposableStack();
    const answers = new Map([[answerKey(asked), { headers, body }]]);
    const floor = stack.use(await startFloorServer(answers, { cert, key }));
    const client = new Client(floor.origin, { connect: { rejectUnauthorized: false }, allowH2 });
    stack.defer(() => client.close());
    const chunks: Buffer[] = [];
    const answered = await receive(client, { ...question, ...changes }, (chunk) => chunks.push(chunk));
    return [answered, Buffer.concat(chunks)];
  }

  for (const allowH2 of [false, true]) {
    it(`responds over HTTP/${allowH2 ? '2' : '1.1'} with the bytes and headers that it was given`, async () => {
      const [answered, received] = await ask({}, allowH2);
      expect(received).to.deep.equal(body);
      expect(answered).to.include({ ...headers, 'content-length': '3' });
    });
  }

  it('responds to nothing else', async () => {
    for (const change of [{ path: '/a' }, { gzip: false }, { mediaType: 'application/yaml' }]) {
      const failure = await ask(change, false).catch((error: Error) => error.message);
      expect(failure).to.match(/the answer was 404/);
    }
  });
});
