import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import { parseCaBundle } from '#lib/apiserver/access/certificate-chain.ts';
import {
  commonNameOf,
  organizationsOf,
  type PeerChain,
  peerChainOf,
} from '#lib/apiserver/access/client-certificate.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';

describe('commonNameOf and organizationsOf', () => {
  const authority = new TestAuthority('users');
  const certificateOf = (subject: { commonName: string; organizations?: readonly string[] }) =>
    new X509Certificate(authority.leaf({ subject }).cert);

  it('returns the user and groups of a certificate', () => {
    for (const organizations of [['a'], ['a', 'system:masters', 'b']]) {
      const certificate = certificateOf({ commonName: 'alice', organizations });
      for (let time = 0; time < 2; time++) {
        expect(commonNameOf(certificate)).to.equal('alice');
        expect(organizationsOf(certificate)).to.deep.equal(organizations);
      }
    }
  });

  it('returns no groups where there are none, and separate ones for each certificate', () => {
    const [alice, bob] = [certificateOf({ commonName: 'alice' }), certificateOf({ commonName: 'bob' })];
    expect([alice, bob, alice].map(commonNameOf)).to.deep.equal(['alice', 'bob', 'alice']);
    expect(organizationsOf(alice)).to.deep.equal([]);
  });

  it('returns no name where the subject has none', () => {
    const unnamed = { toLegacyObject: () => ({ subject: { O: 'a' } }) } as unknown as X509Certificate;
    expect(commonNameOf(unnamed)).to.equal('');
    expect(organizationsOf(unnamed)).to.deep.equal(['a']);
    const several = { toLegacyObject: () => ({ subject: { CN: ['a', 'b'] } }) } as unknown as X509Certificate;
    expect(commonNameOf(several)).to.equal('b');
  });
});

const HOUR_MS = 3_600_000;

describe('peerChainOf', () => {
  const users = new TestAuthority('users');
  const intermediate = new TestAuthority('intermediate', users);
  const frontProxy = new TestAuthority('front-proxy');
  const [ofUsers, ofFrontProxy] = [parseCaBundle(users.pem), parseCaBundle(frontProxy.pem)];

  it('verifies against each set of authorities separately, though TLS was configured with both', async () => {
    await using connection = await shake(users.leaf());
    const chain = chainOf(connection.socket);
    expect(chain.errorBy(ofUsers, Date.now())).to.equal(undefined);
    expect(chain.errorBy(ofFrontProxy, Date.now())?.message).to.contain('signed by unknown authority');
    expect(chain.errorBy(ofUsers, Date.now())).to.equal(undefined); // the previous one changed nothing
  });

  it('uses the intermediates that the client sent, at every request', async () => {
    await using connection = await shake(intermediate.leaf({}, [intermediate]));
    expect(chainOf(connection.socket).errorBy(ofUsers, Date.now())).to.equal(undefined);
    expect(peerChainOf(connection.socket)).to.equal(peerChainOf(connection.socket));
    expect(chainOf(connection.socket).errorBy(parseCaBundle(users.pem), Date.now())).to.equal(undefined);
  });

  it("reads at most ten certificates of a client's chain", async () => {
    for (const [intermediates, error] of [
      [9, undefined],
      [10, 'signed by unknown authority'],
    ] as const) {
      const chain = [users];
      for (let level = 0; level < intermediates; level++)
        chain.unshift(new TestAuthority(`level ${level}`, chain[0]));
      const [lowest = users] = chain;
      await using connection = await shake(lowest.leaf({}, chain.slice(0, -1)));
      const message = chainOf(connection.socket).errorBy(ofUsers, Date.now())?.message;
      if (error) expect(message).to.contain(error);
      else expect(message).to.equal(undefined);
    }
  });

  it('checks the validity of every certificate again', async () => {
    const validity = { notBefore: new Date(), notAfter: new Date(Date.now() + HOUR_MS) };
    await using connection = await shake(users.leaf({ validity }));
    const chain = chainOf(connection.socket);
    expect(chain.errorBy(ofUsers, Date.now() + 1_000)).to.equal(undefined);
    expect(chain.errorBy(ofUsers, Date.now() + 2 * HOUR_MS)?.message).to.contain('has expired');
    expect(chain.errorBy(ofUsers, Date.now() - HOUR_MS)?.message).to.contain('not yet valid');
    expect(chain.errorBy(ofUsers, Date.now() + 1_000)).to.equal(undefined);
  });

  it('does not verify an invalid chain again for ten seconds', async () => {
    const [nowMs, notBefore] = [Date.now(), new Date(Date.now() + 5_000)];
    await using connection = await shake(
      users.leaf({ validity: { notBefore, notAfter: new Date(nowMs + HOUR_MS) } }),
    );
    const chain = chainOf(connection.socket);
    for (const laterMs of [0, 9_000]) {
      expect(chain.errorBy(ofUsers, nowMs + laterMs)?.message).to.contain('not yet valid');
    }
    expect(chain.errorBy(ofUsers, nowMs + 11_000)).to.equal(undefined);
  });

  it('is undefined where the client sends no certificate', async () => {
    await using connection = await shake({});
    expect(peerChainOf(connection.socket)).to.equal(undefined);
  });

  function chainOf(socket: TLSSocket): PeerChain {
    const chain = peerChainOf(socket);
    if (!chain) throw new Error('the client shows no certificate');
    return chain;
  }

  /** The server's end of a connection whose client sends these certificates. */
  async function shake(shown: {
    readonly cert?: string;
    readonly key?: string;
  }): Promise<AsyncDisposable & { readonly socket: TLSSocket }> {
    const own = users.leaf({ usages: ['serverAuth'] });
    const server = createServer({ ...own, requestCert: true, rejectUnauthorized: false });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo; // of a port, since the server does not listen on a pipe
    const client = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...shown });
    const [socket] = await once(server, 'secureConnection');
    return {
      socket,
      [Symbol.asyncDispose]: async () => {
        client.destroy();
        socket.destroy();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }
});
