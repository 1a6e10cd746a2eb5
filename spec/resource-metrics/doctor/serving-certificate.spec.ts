import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { DiagnosisCode } from '#lib/resource-metrics/doctor/diagnoses.ts';
import type { LeafRequest } from '#simulator/pki/certificate-authority.ts';
import { type Examination, examine, startExaminedCluster } from '#spec/support/examined-cluster.ts';

const SERVICE = 'metrics-server.kube-system.svc';
const YEAR_MS = 365 * 86_400_000;

describe('compareCaBundle', () => {
  it('is content with a certificate for the service that the caBundle verifies', async () => {
    const { findings, diagnoses } = await examineWith({ names: [SERVICE] });
    expect(diagnoses).to.deep.equal([]);
    expect(findings.find(({ subject }) => subject === 'serving certificate')?.seen).to.match(
      new RegExp(`^for ${SERVICE}, verified by the caBundle, valid until 20`),
    );
  });

  const faults: readonly (readonly [string, Partial<LeafRequest>, DiagnosisCode])[] = [
    ['is made out to another name', { names: ['elsewhere.svc'] }, 'serving-certificate-names'],
    [
      'has expired',
      {
        validity: { notBefore: new Date(Date.now() - 2 * YEAR_MS), notAfter: new Date(Date.now() - YEAR_MS) },
      },
      'serving-certificate-expired',
    ],
  ];
  for (const [what, changes, diagnosis] of faults) {
    it(`tells that it ${what}`, async () => {
      const { diagnoses } = await examineWith({ names: [SERVICE], ...changes });
      expect(diagnoses).to.deep.equal([diagnosis]);
    });
  }
});

/** Has a CA of the cluster issue a serving certificate, and put into the caBundle. */
async function examineWith(request: Partial<LeafRequest>): Promise<Examination> {
  await using server = await startExaminedCluster({ nodes: 1 });
  const { pki, files, store } = server.cluster;
  const { certificatePem } = pki.serverCa.issue({
    subject: { commonName: 'metrics-server' },
    usages: ['serverAuth'],
    ...request,
  });
  const certFile = join(files.directory, 'serving.crt');
  await writeFile(certFile, certificatePem);
  const object = store.get('apiservices.apiregistration.k8s.io', undefined, 'v1beta1.metrics.k8s.io');
  if (!object) throw new Error('there is no APIService');
  const caBundle = Buffer.from(pki.serverCa.certificatePem).toString('base64');
  store.update('apiservices.apiregistration.k8s.io', {
    ...object,
    spec: { ...(object.spec as object), caBundle },
  });
  return await examine(server, [`--tls-cert-file=${certFile}`, '--tls-private-key-file=unread']);
}
