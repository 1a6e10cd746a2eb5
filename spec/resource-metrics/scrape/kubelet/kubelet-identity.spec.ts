import type tls from 'node:tls';
import { expect } from 'chai';
import { kubeletIdentityError } from '#lib/resource-metrics/scrape/kubelet/dialer.ts';

const REMEDY =
  '; issue the kubelet a certificate that names its node (serverTLSBootstrap: true in its configuration), or connect to a name in the certificate (--kubelet-preferred-address-types)';

/** A certificate with common names and alternative names. */
const certificate = (commonName: string | readonly string[] | undefined, subjectaltname?: string) =>
  ({ subject: { CN: commonName }, subjectaltname }) as unknown as tls.PeerCertificate;

const refusal = (presented: tls.PeerCertificate, host: string, alternativeNames?: readonly string[]) =>
  kubeletIdentityError(presented, { host, ...(alternativeNames && { alternativeNames }) });

describe('kubeletIdentityError', () => {
  it('returns undefined if the certificate names the host, or another name or address of the node', () => {
    const presented = certificate('ca', 'DNS:node-a, IP Address:10.0.0.7');
    expect(refusal(presented, '10.0.0.7')).to.equal(undefined);
    expect(refusal(presented, 'node-a')).to.equal(undefined);
    expect(refusal(presented, '192.0.2.1', ['node-b', 'node-a'])).to.equal(undefined);
  });

  it('names the expected names, the names in the certificate and the remedy', () => {
    for (const [presented, names] of [
      [certificate('x', 'DNS:node-a, IP Address:10.0.0.7'), 'node-a, 10.0.0.7'],
      [certificate('node-a'), 'node-a'],
      [certificate(['node-a', 'node-c']), 'node-a, node-c'],
      [certificate(undefined), 'no name'],
      [{} as tls.PeerCertificate, 'no name'],
    ] as const) {
      const error = refusal(presented, '10.0.0.8', ['10.0.0.8', 'node-b']);
      expect(error?.message).to.equal(
        `its certificate is valid for ${names}, not for 10.0.0.8, node-b${REMEDY}`,
      );
      expect(error).to.have.property('code', 'CERT_OF_ANOTHER_NAME');
    }
  });

  it('ignores the common name if the certificate has alternative names', () => {
    expect(refusal(certificate('node-a', 'DNS:node-b'), 'node-a')).to.be.instanceOf(Error);
  });
});
