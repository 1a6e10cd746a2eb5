import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import tls, { type TlsOptions } from 'node:tls';
import { expect } from 'chai';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { dial } from '#lib/sources/network/guarded-socket.ts';
import { offerNoCostlyCiphers } from '#lib/sources/network/tls.ts';
import { issueCertificate } from '#simulator/pki/certificate.ts';
import { generateKeys } from '#simulator/pki/certificate-authority.ts';
import { errorOf } from '#spec/support/error-of.ts';

describe('offerNoCostlyCiphers', () => {
  const before = tls.DEFAULT_CIPHERS;

  afterEach(() => {
    tls.DEFAULT_CIPHERS = before;
  });

  it('works out no key over numbers that a server chooses', async () => {
    await using server = await start({ ciphers: 'DHE-RSA-AES128-GCM-SHA256', dhparam: 'auto' });
    tls.DEFAULT_CIPHERS = before.replace(/:!DHE$/, '');
    expect(await server.connect()).to.equal('no error');
    offerNoCostlyCiphers();
    expect(await server.connect()).to.match(/handshake failure/);
  });

  it('leaves it at all other ways to agree on one', async () => {
    offerNoCostlyCiphers();
    const offered = tls.DEFAULT_CIPHERS;
    offerNoCostlyCiphers();
    expect(tls.DEFAULT_CIPHERS).to.equal(offered);
    for (const options of [
      { ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' },
      { ciphers: 'AES128-GCM-SHA256' },
      { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' },
    ] as const) {
      await using server = await start(options);
      expect(await server.connect()).to.equal('no error');
    }
  });
});

/** A server with a certificate of an RSA key, as these ways need. */
async function start(options: TlsOptions) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const subject = { commonName: 'localhost' };
  const validity = { notBefore: new Date(Date.now() - 1000), notAfter: new Date(Date.now() + 86_400_000) };
  const request = { subject, validity, publicKey, usages: ['serverAuth'] as const };
  const cert = issueCertificate(request, { subject, ...generateKeys() });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const server = tls.createServer({ maxVersion: 'TLSv1.2', ...options, cert, key }, (socket) => {
    socket.on('error', () => {});
    socket.end();
  });
  server.on('tlsClientError', () => {}); // who has no cipher in common, leaves
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const allowedHosts = new AllowedHosts(['127.0.0.1']);
  const target = { host: '127.0.0.1', port, tls: { isUnverified: true }, allowedHosts };
  return {
    connect: () => errorOf(dial(target, new AbortController().signal).then(({ destroy }) => destroy())),
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, 'close');
    },
  };
}
