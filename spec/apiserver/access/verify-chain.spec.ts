import { type KeyObject, X509Certificate } from 'node:crypto';
import { KeyUsageFlags } from '@peculiar/asn1-x509';
import { expect } from 'chai';
import { type ChainValidity, parseCaBundle, verifyChain } from '#lib/apiserver/access/certificate-chain.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';
import {
  ecKeys,
  issueOddCertificate,
  type OddCertificate,
  rsaKeyOfBits,
} from '#spec/support/odd-certificates.ts';

/** id-kp-clientAuth. */
const CLIENT_AUTHENTICATION = '1.3.6.1.5.5.7.3.2';

const HOUR_MS = 3_600_000;

describe('verifyChain', () => {
  const root = new TestAuthority('root');
  const middle = new TestAuthority('middle', root);
  const low = new TestAuthority('low', middle);

  it('accepts what an authority has signed', () => {
    expect(() => verify(root.leaf().cert, root)).not.to.throw();
  });

  it('uses intermediates in any order', () => {
    expect(() => verify(low.leaf({}, [low, middle]).cert, root)).not.to.throw();
    expect(() => verify(low.leaf({}, [middle, low]).cert, root)).not.to.throw();
    expect(() => verify(low.leaf({}, [low]).cert, middle)).not.to.throw();
  });

  it('refuses a peer that shows nothing', () => {
    expect(() => verifyChain([], optionsFor(bundleOf(root)))).to.throw('no certificate was sent');
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
    const others = bundleOf(new TestAuthority('other')).certificates;
    for (const certificates of [[new X509Certificate(cert)], [...others, new X509Certificate(cert)]])
      expect(() => verifyChain([new X509Certificate(cert)], optionsFor({ certificates }))).not.to.throw();
  });

  describe('of certificates that no proper authority would issue', () => {
    const [rootKeys, keys, others] = [ecKeys(), ecKeys(), ecKeys()];
    const odd = (certificate: Partial<OddCertificate> & Pick<OddCertificate, 'subject'>) =>
      issueOddCertificate({
        issuer: 'root',
        publicKey: keys.publicKey,
        signingKey: rootKeys.privateKey,
        ...certificate,
      });
    const root = (basicConstraints: OddCertificate['basicConstraints'] = { cA: true }) =>
      parseCaBundle(odd({ subject: 'root', publicKey: rootKeys.publicKey, basicConstraints }));
    const middle = (certificate: Partial<OddCertificate>) => odd({ subject: 'middle', ...certificate });
    const leaf = odd({
      subject: 'alice',
      issuer: 'middle',
      publicKey: others.publicKey,
      signingKey: keys.privateKey,
    });
    const verifyBy = (bundle: ReturnType<typeof parseCaBundle>, pem: string) => () =>
      verifyChain(chainOf(pem), optionsFor(bundle));

    it('accepts valid certificates of this kind', () => {
      expect(verifyBy(root(), leaf + middle({ basicConstraints: { cA: true } }))).not.to.throw();
    });

    it('rejects certificates whose issuer is not an authority, for any key usage of the issuer', () => {
      for (const basicConstraints of [{ cA: false }, undefined]) {
        for (const keyUsage of [undefined, KeyUsageFlags.digitalSignature, KeyUsageFlags.keyCertSign]) {
          const pem =
            leaf + middle({ ...(basicConstraints && { basicConstraints }), ...(keyUsage && { keyUsage }) });
          expect(verifyBy(root(), pem), JSON.stringify({ basicConstraints, keyUsage })).to.throw(
            /signed by a certificate that is not that of a CA|signed by unknown authority/,
          );
        }
      }
    });

    it('refuses what a certificate has signed that is believed, and is no authority', () => {
      expect(verifyBy(root({ cA: false }), odd({ subject: 'alice' }))).to.throw(
        'signed by a certificate that is not that of a CA',
      );
    });

    it('lets an authority sign chains up to its maximum path length only', () => {
      const below = (pathLenConstraint: number) =>
        middle({ basicConstraints: { cA: true, pathLenConstraint } });
      const [none, one] = [
        root({ cA: true, pathLenConstraint: 0 }),
        root({ cA: true, pathLenConstraint: 1 }),
      ];
      expect(verifyBy(none, odd({ subject: 'alice' }))).not.to.throw();
      expect(verifyBy(none, leaf + below(0))).to.throw('too many intermediates');
      expect(verifyBy(one, leaf + below(0))).not.to.throw();
    });

    it('refuses signatures by SHA-1, but for the one by which an authority signed itself', () => {
      expect(verifyBy(root(), odd({ subject: 'alice', hash: 'sha1' }))).to.throw('insecure algorithm');
      expect(verifyBy(root(), leaf + middle({ basicConstraints: { cA: true }, hash: 'sha1' }))).to.throw(
        'insecure algorithm',
      );
      const itself = { subject: 'root', publicKey: rootKeys.publicKey, basicConstraints: { cA: true } };
      const old = parseCaBundle(odd({ ...itself, hash: 'sha1' }));
      expect(verifyBy(old, odd({ subject: 'alice' }))).not.to.throw();
    });

    it('refuses critical extensions that it does not understand, of the peer and of authorities', () => {
      const critical = { '1.2.3.4': Buffer.from('0500', 'hex') };
      const refusal = 'certificate has an unsupported critical extension: 1.2.3.4';
      expect(verifyBy(root(), odd({ subject: 'alice', critical }))).to.throw(refusal);
      const authority = middle({ basicConstraints: { cA: true }, critical });
      expect(verifyBy(root(), leaf + authority)).to.throw(refusal);
    });

    it('refuses names below an authority with name constraints, at any depth, and accepts certificates without names', () => {
      const names = { '2.5.29.17': Buffer.from('3003820161', 'hex') };
      const constraints = { '2.5.29.30': Buffer.from('3007a0053003820161', 'hex') };
      const itself = { subject: 'root', publicKey: rootKeys.publicKey, basicConstraints: { cA: true } };
      const constraining = parseCaBundle(odd({ ...itself, critical: constraints }));
      const refusal =
        'authority has name constraints, which are not supported for certificates with alternative names';
      const named = { subject: 'alice', critical: names };
      expect(verifyBy(constraining, odd(named))).to.throw(refusal);
      expect(verifyBy(root(), odd(named))).not.to.throw();
      expect(verifyBy(constraining, odd({ subject: 'alice' }))).not.to.throw();
      const below = odd({ ...named, issuer: 'middle', signingKey: keys.privateKey });
      const between = middle({ basicConstraints: { cA: true } });
      expect(verifyBy(constraining, below + between)).to.throw(refusal);
      expect(verifyBy(constraining, leaf + between)).not.to.throw();
    });

    it('checks no signature by a key that no authority vouches for, however many certificates fit one another', () => {
      const [strange, user] = [ecKeys(), ecKeys()];
      const own = { signingKey: strange.privateKey, publicKey: strange.publicKey };
      const stranger = () =>
        odd({ ...own, subject: 'stranger', issuer: 'stranger', basicConstraints: { cA: true } });
      const strangers = Array.from({ length: 9 }, stranger).join('');
      const signedByThem = odd({ ...own, subject: 'alice', issuer: 'stranger' });
      expect(requestedKeys(verifyBy(root(), signedByThem + strangers))).to.be.empty;

      const pretended = odd({ ...own, subject: 'stranger', basicConstraints: { cA: true } });
      expect(requestedKeys(verifyBy(root(), signedByThem + pretended))).to.deep.equal([pemOf(rootKeys)]);

      const bob = odd({ subject: 'bob', publicKey: user.publicKey, basicConstraints: { cA: false } });
      const signedByBob = odd({ subject: 'alice', issuer: 'bob', signingKey: user.privateKey });
      expect(requestedKeys(verifyBy(root(), signedByBob + bob))).to.be.empty;
    });

    it('fails after 50 signature checks', () => {
      const decoy = () =>
        odd({ subject: 'root', publicKey: ecKeys().publicKey, basicConstraints: { cA: true } });
      const behind = (decoys: number) => ({
        certificates: [
          ...parseCaBundle(Array.from({ length: decoys }, decoy).join('')).certificates,
          ...root().certificates,
        ],
      });
      expect(verifyBy(behind(49), odd({ subject: 'alice' }))).not.to.throw();
      expect(verifyBy(behind(50), odd({ subject: 'alice' }))).to.throw('signed by unknown authority');
    });

    it('refuses RSA keys of more than 8,192 bits in any certificate', () => {
      const of = (bits: number) => odd({ subject: 'alice', publicKey: rsaKeyOfBits(bits) });
      expect(verifyBy(root(), of(8_192))).not.to.throw();
      const refusal = 'certificate has an RSA key of more than 8192 bits';
      expect(verifyBy(root(), of(8_193))).to.throw(refusal);
      expect(verifyBy(root(), of(16_384))).to.throw(refusal);
      expect(verifyBy(root(), odd({ subject: 'alice' }) + of(16_384))).to.throw(refusal);
    });
  });

  it('refuses a certificate for another purpose, and accepts one for any purpose', () => {
    expect(() => verify(root.leaf({ usages: ['serverAuth'] }).cert, root)).to.throw('incompatible key usage');
    expect(() => verify(root.leaf({ usages: [] }).cert, root)).not.to.throw();
    expect(() => verify(root.leaf({ usages: ['serverAuth', 'clientAuth'] }).cert, root)).not.to.throw();
  });

  it('checks the validity of every certificate in the chain', () => {
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

/** The keys, as PEM, that verify signatures while a chain is rejected. */
function requestedKeys(refuse: () => void): readonly string[] {
  const { verify } = X509Certificate.prototype;
  const keys: string[] = [];
  X509Certificate.prototype.verify = function (key) {
    keys.push(pemOf({ publicKey: key }));
    return verify.call(this, key);
  };
  try {
    expect(refuse).to.throw('signed by unknown authority');
  } finally {
    X509Certificate.prototype.verify = verify;
  }
  return keys;
}

function pemOf({ publicKey }: { readonly publicKey: KeyObject }): string {
  return publicKey.export({ type: 'spki', format: 'pem' }).toString();
}
