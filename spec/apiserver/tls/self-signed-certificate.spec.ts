import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import tls from 'node:tls';
import { expect } from 'chai';
import { makeSelfSignedCertificate } from '#lib/apiserver/tls/self-signed-certificate.ts';
import { RawServer } from '#spec/support/raw-server.ts';

const NOW_MS = Date.now();

/** The server's certificate and that of the authority which signed it. */
function chainOf(pem: string): readonly X509Certificate[] {
  return (pem.match(/-----BEGIN.*?END CERTIFICATE-----/gs) ?? []).map((each) => new X509Certificate(each));
}

describe('makeSelfSignedCertificate', () => {
  it('makes a certificate for localhost that its own authority signed, and the key to it', async () => {
    const { cert, key } = await makeSelfSignedCertificate(NOW_MS);
    const [server, authority] = chainOf(cert);
    const stamp = Math.floor(NOW_MS / 1000);
    expect(server?.subject).to.equal(`CN=localhost@${stamp}`);
    expect(server?.issuer).to.equal(`CN=localhost-ca@${stamp}`);
    expect(authority && server?.checkIssued(authority)).to.equal(true);
    expect(authority && server?.verify(authority.publicKey)).to.equal(true);
    expect(authority?.ca).to.equal(true);
    expect(server?.ca).to.equal(false);
    expect(server?.checkPrivateKey(createPrivateKey(key))).to.equal(true);
  });

  it('makes it valid for a year from an hour ago', async () => {
    const [server] = chainOf((await makeSelfSignedCertificate(NOW_MS)).cert);
    expect(server?.validFromDate.getTime()).to.be.closeTo(NOW_MS - 3_600_000, 1000);
    expect(server?.validToDate.getTime()).to.be.closeTo(NOW_MS + 365 * 86_400_000, 1000);
  });

  it('is what a TLS client accepts that trusts the authority, by each of its names', async () => {
    const { cert, key } = await makeSelfSignedCertificate(NOW_MS);
    const authority = chainOf(cert)[1]?.toString() ?? '';
    await using server = await RawServer.start((socket) => socket.end(), { tls: { cert, key } });
    for (const name of ['localhost', '127.0.0.1', '::1']) {
      const checkServerIdentity = (_host: string, peer: tls.PeerCertificate) =>
        tls.checkServerIdentity(name, peer);
      const socket = tls.connect({
        port: server.port,
        host: '127.0.0.1',
        ca: authority,
        checkServerIdentity,
      });
      await once(socket, 'secureConnect');
      expect(socket.authorized).to.equal(true);
      socket.destroy();
    }
  });
});
