import { expect } from 'chai';
import { Client } from 'undici';
import { CertificateAuthority } from '#simulator/access/certificate-authority.ts';
import { PROBE, send } from '../load/send.ts';
import { startBaselineServer } from './baseline-server.ts';
import { responseKey } from './record-responses.ts';
import { startBaseline } from './start-baseline.ts';

describe('startBaseline', () => {
  const { certificatePem: cert, privateKeyPem: key } = new CertificateAuthority('test').issue({
    subject: { commonName: 'both' },
    usages: ['serverAuth', 'clientAuth'],
    names: ['127.0.0.1'],
  });
  const requested = { url: PROBE.path, headers: { accept: '*/*', 'accept-encoding': 'identity' } };
  const responses = new Map([
    [responseKey(requested), { headers: { 'content-type': 'text/plain' }, body: Buffer.from('ok') }],
  ]);

  it('has another process serve what a server responds', async () => {
    await using stack = new AsyncDisposableStack();
    const server = stack.use(await startBaselineServer(responses, { cert, key }));
    const order = { origin: server.origin, tls: { cert, key }, certificate: { cert, key } };
    const baseline = stack.use(await startBaseline({ ...order, requests: [PROBE] }));
    expect(baseline.pid).not.to.equal(process.pid);
    const client = new Client(baseline.origin, { connect: { rejectUnauthorized: false } });
    stack.defer(() => client.close());
    expect(await send(client, PROBE)).to.equal(2);
  });
});
