import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { parseCaBundle } from '#lib/apiserver/authentication/ca-bundle.ts';
import {
  type ChainValidity,
  CLIENT_AUTHENTICATION,
  verifyChain,
} from '#lib/apiserver/authentication/verify-chain.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';

const HOUR_MS = 3_600_000;

describe('verifyChain', () => {
  const root = new TestAuthority('root');
  const middle = new TestAuthority('middle', root);
  const low = new TestAuthority('low', middle);

  it('accepts what an authority has signed', () => {
    expect(() => verify(root.leaf().cert, root)).not.to.throw();
  });

  it('goes by intermediates, whatever their order', () => {
    expect(() => verify(low.leaf({}, [low, middle]).cert, root)).not.to.throw();
    expect(() => verify(low.leaf({}, [middle, low]).cert, root)).not.to.throw();
    expect(() => verify(low.leaf({}, [low]).cert, middle)).not.to.throw();
  });

  it('refuses a chain with a gap', () => {
    expect(() => verify(low.leaf({}, [low]).cert, root)).to.throw('signed by unknown authority');
    expect(() => verify(middle.leaf().cert, root)).to.throw('signed by unknown authority');
  });

  it('refuses what another authority of the same name has signed', () => {
    expect(() => verify(new TestAuthority('root').leaf().cert, root)).to.throw('signed by unknown authority');
  });

  it('accepts any of several authorities', () => {
    const other = new TestAuthority('other');
    expect(() => verify(root.leaf().cert, other, root)).not.to.throw();
  });

  it('accepts a certificate that is itself among the authorities', () => {
    const { cert } = root.leaf();
    const bundle = { certificates: [new X509Certificate(cert)] };
    expect(() => verifyChain([new X509Certificate(cert)], optionsFor(bundle))).not.to.throw();
  });

  it('refuses what a certificate that is no authority has signed', () => {
    const impostor = new TestAuthority('impostor');
    const { cert } = root.leaf({ subject: { commonName: 'impostor' } });
    const leaf = impostor.leaf().cert;
    expect(() => verify(leaf + cert, root)).to.throw('signed by unknown authority');
  });

  it('refuses what is not made for the purpose, and takes what is made for every one', () => {
    expect(() => verify(root.leaf({ usages: ['serverAuth'] }).cert, root)).to.throw('incompatible key usage');
    expect(() => verify(root.leaf({ usages: [] }).cert, root)).not.to.throw();
    expect(() => verify(root.leaf({ usages: ['serverAuth', 'clientAuth'] }).cert, root)).not.to.throw();
  });

  it('goes by the time of every certificate in the chain', () => {
    const nowMs = Date.now();
    const brief = { notBefore: new Date(nowMs - HOUR_MS), notAfter: new Date(nowMs + HOUR_MS) };
    const { cert } = root.leaf({ validity: brief });
    expect(verify(cert, root)).to.deep.equal({
      fromMs: floorToSecond(nowMs - HOUR_MS),
      toMs: floorToSecond(nowMs + HOUR_MS),
    });
    const at = (ms: number) => () => verifyChain(chainOf(cert), optionsFor(bundleOf(root), nowMs + ms));
    expect(at(-2 * HOUR_MS)).to.throw('not yet valid');
    expect(at(2 * HOUR_MS)).to.throw('has expired');
    expect(at(48 * HOUR_MS)).to.throw('has expired');
  });

  it('gives up on a peer that sends certificates which nearly fit', () => {
    const decoys = Array.from({ length: 9 }, () => new TestAuthority('middle', root));
    const startedAtMs = performance.now();
    expect(() => verify(middle.leaf({}, decoys).cert, new TestAuthority('root'))).to.throw(
      'unknown authority',
    );
    expect(performance.now() - startedAtMs).to.be.lessThan(1_000);
  });
});

function verify(pem: string, ...authorities: readonly TestAuthority[]): ChainValidity {
  return verifyChain(chainOf(pem), optionsFor(bundleOf(...authorities)));
}

function chainOf(pem: string): readonly X509Certificate[] {
  return parseCaBundle(pem).certificates;
}

function bundleOf(...authorities: readonly TestAuthority[]) {
  return parseCaBundle(authorities.map(({ pem }) => pem).join('\n'));
}

function optionsFor(authorities: ReturnType<typeof parseCaBundle>, nowMs = Date.now()) {
  return { authorities, usage: CLIENT_AUTHENTICATION, nowMs };
}

function floorToSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}
