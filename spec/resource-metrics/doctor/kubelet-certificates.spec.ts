import { expect } from 'chai';
import type { DiagnosisCode } from '#lib/resource-metrics/doctor/diagnoses.ts';
import type { CertificateKind } from '#simulator/kubelet/serving-certificate.ts';
import { examine, startExaminedCluster } from '#spec/support/examined-cluster.ts';

describe('kubeletCertificates', () => {
  it('describes names, issuer and expiry of a valid certificate', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    const { findings } = await examine(server);
    const { address } = server.cluster.node('node-1').plan;
    const observed = findings.map((finding) => finding.seen).find((one) => one.includes('CN=kubelet-ca'));
    expect(observed).to.match(
      new RegExp(`^for node-1, ${address}, issued by CN=kubelet-ca, valid until 20\\d\\d-.*Z$`),
    );
  });

  const faults: readonly (readonly [CertificateKind, DiagnosisCode])[] = [
    ['expired', 'kubelet-certificate-expired'],
    ['self-signed', 'kubelet-certificate-self-signed'],
  ];
  for (const [kind, diagnosis] of faults) {
    it(`reports a certificate that is ${kind}, and sends no credentials`, async () => {
      await using server = await startExaminedCluster({ nodes: 1 });
      server.cluster.setCertificate('node-1', kind);
      const { diagnoses, findings } = await examine(server);
      expect(diagnoses).to.deep.equal([diagnosis]);
      expect(findings.find(({ status }) => status === 'failed'))
        .to.have.property('remedy')
        .which.includes('node-1');
    });
  }

  it('reports a certificate that names only the node, if the address is required', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    server.cluster.setCertificate('node-1', 'name-only');
    const { diagnoses } = await examine(server, ['--kubelet-verify-node-name=false']);
    expect(diagnoses).to.deep.equal(['kubelet-certificate-names']);
  });

  it('is not confused by names in the error message', async () => {
    await using server = await startExaminedCluster({
      nodes: 1,
      nodeOverrides: {
        'node-1': {
          addresses: [
            { type: 'InternalIP', address: '{ip}' },
            { type: 'ExternalDNS', address: 'expired.test' },
          ],
        },
      },
    });
    server.cluster.setCertificate('node-1', 'other-name');
    const { diagnoses } = await examine(server);
    expect(diagnoses).to.deep.equal(['kubelet-certificate-names']);
  });

  it('reports an unknown authority, by name', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    const { findings, diagnoses } = await examine(server, [
      `--kubelet-certificate-authority=${server.cluster.files.serverCa}`,
    ]);
    expect(diagnoses).to.deep.equal(['kubelet-certificate-authority']);
    expect(findings.find(({ status }) => status === 'failed')).to.have.property(
      'remedy',
      'Set --kubelet-certificate-authority to a file with the certificate of the CA "CN=kubelet-ca".',
    );
  });

  it('reports a server without TLS', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    await server.cluster.setFault('node-1', 'break-tls');
    const { diagnoses } = await examine(server);
    expect(diagnoses).to.deep.equal(['kubelet-without-tls']);
  });

  it('notes that verification is disabled', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    const { isSound, findings } = await examine(server, [
      '--kubelet-insecure-tls',
      '--kubelet-certificate-authority=',
    ]);
    expect(isSound).to.equal(true);
    expect(findings.some(({ seen }) => seen.startsWith('not verified (--kubelet-insecure-tls)'))).to.equal(
      true,
    );
  });
});
