import { type CertificateRequest, issueCertificate } from '#simulator/access/certificate.ts';
import { generateKeys, type KeyPair, privateKeyPem } from '#simulator/access/certificate-authority.ts';

const DAY_MS = 86_400_000;

/** An authority that can also issue intermediate authorities. */
export class TestAuthority {
  readonly pem: string;
  readonly #subject: { readonly commonName: string };
  readonly #keys: KeyPair = generateKeys();

  constructor(commonName: string, issuer?: TestAuthority) {
    this.#subject = { commonName };
    this.pem = (issuer ?? this).#issue({ subject: this.#subject, isCa: true }, this.#keys);
  }

  /** @returns the certificate of a client, followed by the given chain */
  leaf(
    request: Partial<Omit<CertificateRequest, 'publicKey'>> = {},
    chain: readonly TestAuthority[] = [],
  ): { readonly cert: string; readonly key: string } {
    const keys = generateKeys();
    const cert = this.#issue({ subject: { commonName: 'alice' }, usages: ['clientAuth'], ...request }, keys);
    return { cert: [cert, ...chain.map(({ pem }) => pem)].join(''), key: privateKeyPem(keys) };
  }

  #issue(request: Partial<CertificateRequest> & Pick<CertificateRequest, 'subject'>, keys: KeyPair): string {
    const validity = { notBefore: new Date(Date.now() - DAY_MS), notAfter: new Date(Date.now() + DAY_MS) };
    return issueCertificate(
      { validity, ...request, publicKey: keys.publicKey },
      { subject: this.#subject, ...this.#keys },
    );
  }
}
