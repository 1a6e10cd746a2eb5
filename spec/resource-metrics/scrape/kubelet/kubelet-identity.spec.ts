import type tls from 'node:tls';
import { expect } from 'chai';
import { kubeletIdentityError } from '#lib/resource-metrics/scrape/kubelet/dialer.ts';

const REMEDY =
  '; give the kubelet a certificate that names its node (serverTLSBootstrap: true in its configuration), or ask it by a name that the certificate has (--kubelet-preferred-address-types)';

/** A certificate with a common name, or several, and what else it is for. */
const certificate = (commonName: string | readonly string[] | undefined, subjectaltname?: string) =>
  ({ subject: { CN: commonName }, subjectaltname }) as unknown as tls.PeerCertificate;

const refusal = (presented: tls.PeerCertificate, host: string, knownAs?: readonly string[]) =>
  kubeletIdentityError(presented, { host, ...(knownAs && { knownAs }) });

describe('kubeletIdentityError', () => {
  it('is none where the certificate names the host, or another name or address of the node', () => {
    const presented = certificate('ca', 'DNS:node-a, IP Address:10.0.0.7');
    expect(refusal(presented, '10.0.0.7')).to.equal(undefined);
    expect(refusal(presented, 'node-a')).to.equal(undefined);
    expect(refusal(presented, '192.0.2.1', ['node-b', 'node-a'])).to.equal(undefined);
  });

  it('names whom was asked, each once, whom the certificate is for, and what to do', () => {
    for (const [presented, names] of [
      [certificate('x', 'DNS:node-a, IP Address:10.0.0.7'), 'node-a, 10.0.0.7'],
      [certificate('node-a'), 'node-a'],
      [certificate(['node-a', 'node-c']), 'node-a, node-c'],
      [certificate(undefined), 'nobody'],
      [{} as tls.PeerCertificate, 'nobody'],
    ] as const) {
      const error = refusal(presented, '10.0.0.8', ['10.0.0.8', 'node-b']);
      expect(error?.message).to.equal(
        `its certificate is not for 10.0.0.8, node-b: it is for ${names}${REMEDY}`,
      );
      expect(error).to.have.property('code', 'CERT_OF_ANOTHER_NAME');
    }
  });

  it('takes no common name for a name where the certificate has others', () => {
    expect(refusal(certificate('node-a', 'DNS:node-b'), 'node-a')).to.be.instanceOf(Error);
  });
});
