import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { DiagnosisCode } from '#lib/resource-metrics/doctor/diagnoses.ts';
import type { LeafRequest } from '#simulator/access/certificate-authority.ts';
import {
  type Examination,
  examine,
  startExaminedCluster,
  untilAvailable,
} from '#spec/support/examined-cluster.ts';
import { freePort } from '#spec/support/free-port.ts';

const API = { group: 'metrics.k8s.io', version: 'v1beta1' };

describe('apiService', () => {
  it('reports that it is not registered', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    server.cluster.aggregator.unregister(API);
    const { diagnoses } = await examine(server);
    expect(diagnoses).to.deep.equal(['api-service-missing', 'metrics-not-served']);
  });

  it('reports that the control plane cannot reach the server', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    server.cluster.registerMetricsServer({ host: '127.0.0.1', port: await freePort() });
    await untilAvailable(server, 'False');
    const { diagnoses, findings } = await examine(server);
    expect(diagnoses).to.deep.equal(['api-service-unreachable', 'metrics-not-served']);
    expect(findings.find(({ status }) => status === 'failed')?.seen).to.match(
      /^is not available: FailedDiscoveryCheck: .*connection refused$/,
    );
  });

  it('reports that it points to another service', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    const { diagnoses, findings } = await examine(server, ['--service=monitoring/adapter']);
    expect(diagnoses).to.deep.equal(['api-service-elsewhere']);
    expect(findings.find(({ status }) => status === 'failed')?.seen).to.equal(
      'points to service kube-system/metrics-server, not to monitoring/adapter',
    );
  });

  it('describes how the serving certificate is verified without a caBundle', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    const { store } = server.cluster;
    const noted = async () => (await examine(server)).findings.find(({ seen }) => seen.startsWith('has no'));
    expect(await noted()).to.include({ status: 'note' });
    expect((await noted())?.seen).to.match(/does not verify .* \(insecureSkipTLSVerify\)$/);
    const object = store.get('apiservices.apiregistration.k8s.io', undefined, 'v1beta1.metrics.k8s.io');
    if (!object) throw new Error('there is no APIService');
    const spec = { ...(object.spec as object), insecureSkipTLSVerify: false };
    store.update('apiservices.apiregistration.k8s.io', { ...object, spec });
    expect((await noted())?.seen).to.match(/verifies .* with the system CAs of its machine$/);
  });

  it('compares its caBundle with the serving certificate', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    const { cluster } = server;
    const port = Number(new URL(server.origin).port);
    cluster.registerMetricsServer({ host: '127.0.0.1', port, caPem: cluster.pki.kubeletCa.certificatePem });
    await untilAvailable(server, 'False');
    const { diagnoses } = await examine(server);
    expect(diagnoses).to.include.members(['api-service-certificate-refused', 'api-service-ca-mismatch']);
  });

  it('reports that there is no serving certificate to compare with', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    const { cluster } = server;
    const port = Number(new URL(server.origin).port);
    cluster.registerMetricsServer({ host: '127.0.0.1', port, caPem: cluster.pki.kubeletCa.certificatePem });
    const { findings } = await examine(server, ['--cert-dir=/nowhere']);
    expect(findings.find(({ status }) => status === 'unchecked')?.seen).to.equal(
      'cannot compare the caBundle with a certificate: no certificate at /nowhere/apiserver.crt; run the doctor with the --tls-cert-file of the server',
    );
  });

  const conditions: readonly (readonly [string, string, DiagnosisCode])[] = [
    [
      'ServiceNotFound',
      'service/metrics-server in "kube-system" is not present',
      'api-service-without-service',
    ],
    [
      'MissingEndpoints',
      'endpoints for service/metrics-server in "kube-system" have no addresses with port name "https"',
      'api-service-without-endpoints',
    ],
    [
      'FailedDiscoveryCheck',
      'failing or missing response from https://10.0.0.9:10250/apis/metrics.k8s.io/v1beta1: net/http: request canceled (Client.Timeout exceeded while awaiting headers)',
      'api-service-unreachable',
    ],
    [
      'FailedDiscoveryCheck',
      'failing or missing response from https://10.0.0.9:10250/apis/metrics.k8s.io/v1beta1: tls: failed to verify certificate: x509: certificate signed by unknown authority',
      'api-service-certificate-refused',
    ],
    [
      'FailedDiscoveryCheck',
      'failing or missing response from https://10.0.0.9:10250/apis/metrics.k8s.io/v1beta1: bad status from https://10.0.0.9:10250/apis/metrics.k8s.io/v1beta1: 404',
      'api-service-unavailable',
    ],
  ];
  it('requires the condition Available', async () => {
    await using server = await startExaminedCluster({ nodes: 1 });
    const { store } = server.cluster;
    const findingsWith = async (status: object) => {
      const object = store.get('apiservices.apiregistration.k8s.io', undefined, 'v1beta1.metrics.k8s.io');
      if (!object) throw new Error('there is no APIService');
      store.update('apiservices.apiregistration.k8s.io', { ...object, status });
      const { findings } = await examine(server);
      return findings.find((one) => one.status === 'failed' && one.diagnosis === 'api-service-unavailable')
        ?.seen;
    };
    const nothing = 'has no condition "Available": the API server has not checked it yet';
    const other = { type: 'Other', status: 'True' };
    for (const status of [{}, { conditions: [] }, { conditions: [other] }])
      expect(await findingsWith(status)).to.equal(nothing);
    const unknown = { type: 'Available', status: 'Unknown', reason: 'Pending', message: 'not checked yet' };
    expect(await findingsWith({ conditions: [unknown] })).to.equal(
      'is not available: Pending: not checked yet',
    );
    expect(await findingsWith({ conditions: [{ type: 'Available', status: 'True' }] })).to.equal(undefined);
  });

  for (const [reason, message, diagnosis] of conditions) {
    it(`diagnoses "${reason}: ${message.slice(-40)}" as ${diagnosis}`, async () => {
      await using server = await startExaminedCluster({ nodes: 1 });
      const { store } = server.cluster;
      const object = store.get('apiservices.apiregistration.k8s.io', undefined, 'v1beta1.metrics.k8s.io');
      if (!object) throw new Error('there is no APIService');
      const condition = { type: 'Available', status: 'False', reason, message };
      store.update('apiservices.apiregistration.k8s.io', { ...object, status: { conditions: [condition] } });
      expect((await examine(server)).diagnoses).to.deep.equal([diagnosis]);
    });
  }
});

const SERVICE = 'metrics-server.kube-system.svc';
const YEAR_MS = 365 * 86_400_000;

describe('compareCaBundle', () => {
  it('accepts a certificate for the service that the caBundle verifies', async () => {
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
    it(`reports that it ${what}`, async () => {
      const { diagnoses } = await examineWith({ names: [SERVICE], ...changes });
      expect(diagnoses).to.deep.equal([diagnosis]);
    });
  }
});

/** Issues a serving certificate by a CA of the cluster, and sets the caBundle to it. */
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
