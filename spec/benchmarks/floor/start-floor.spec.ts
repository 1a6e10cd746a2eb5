import { expect } from 'chai';
import { Client } from 'undici';
import { CertificateAuthority } from '#lib/simulator/pki/certificate-authority.ts';
import { ask, PROBE } from '../load/ask.ts';
import { startFloorServer } from './floor-server.ts';
import { answerKey } from './record-answers.ts';
import { startFloor } from './start-floor.ts';

describe('startFloor', () => {
  const { certificatePem: cert, privateKeyPem: key } = new CertificateAuthority('test').issue({
    subject: { commonName: 'both' },
    usages: ['serverAuth', 'clientAuth'],
    names: ['127.0.0.1'],
  });
  const asked = { url: PROBE.path, headers: { accept: '*/*', 'accept-encoding': 'identity' } };
  const answers = new Map([
    [answerKey(asked), { headers: { 'content-type': 'text/plain' }, body: Buffer.from('ok') }],
  ]);

  it('has another process serve what a server responds', async () => {
    await using stack = new AsyncDisposableStack();
    const server = stack.use(await startFloorServer(answers, { cert, key }));
    const order = { origin: server.origin, tls: { cert, key }, certificate: { cert, key } };
    const floor = stack.use(await startFloor({ ...order, questions: [PROBE] }));
    expect(floor.pid).not.to.equal(process.pid);
    const client = new Client(floor.origin, { connect: { rejectUnauthorized: false } });
    stack.defer(() => client.close());
    expect(await ask(client, PROBE)).to.equal(2);
  });
});
