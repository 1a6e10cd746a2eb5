import type { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Check, type Finding, note, ok } from '#lib/doctor/check.ts';
import { type ApiService, availabilityOf, readApiService } from '#lib/doctor/read-api-service.ts';
import { certificatesIn, oneLine } from '#lib/resource-metrics/doctor/certificates.ts';
import { type DiagnosisCode, failed } from '#lib/resource-metrics/doctor/diagnoses.ts';
import type { DoctorContext } from '#lib/resource-metrics/doctor/doctor-context.ts';

const NAME = 'v1beta1.metrics.k8s.io';
const SUBJECT = `APIService ${NAME}`;

/** Checks that the APIService points to the server, is available and verifies its certificate. */
export const apiService: Check<DoctorContext> = {
  name: 'api-service',
  title: 'APIService',

  async run(context) {
    const registered = await readApiService(context, NAME);
    if (!registered) return [failed(SUBJECT, 'does not exist', { diagnosis: 'api-service-missing' })];
    const { spec } = registered;
    return [
      describeService(context, spec.service ?? undefined),
      describeAvailability(context, registered),
      ...(spec.caBundle
        ? await compareCaBundle(context, Buffer.from(spec.caBundle, 'base64').toString())
        : [note(SUBJECT, `has no caBundle: ${verificationWithout(spec)}`)]),
    ];
  },
};

/** How the API server verifies the serving certificate without a caBundle. */
function verificationWithout({ insecureSkipTLSVerify }: ApiService['spec']): string {
  return insecureSkipTLSVerify
    ? 'the API server does not verify the serving certificate (insecureSkipTLSVerify)'
    : 'the API server verifies the serving certificate with the system CAs of its machine';
}

function describeService({ doctor }: DoctorContext, service: ApiService['spec']['service']): Finding {
  const named = service ? `${service.namespace}/${service.name}` : 'the API server itself';
  const seen = `points to ${service ? `service ${named}` : named}`;
  return named === doctor.service
    ? ok(SUBJECT, seen)
    : failed(SUBJECT, `${seen}, not to ${doctor.service}`, {
        diagnosis: 'api-service-elsewhere',
        OTHER: named,
      });
}

function describeAvailability({ doctor }: DoctorContext, registered: ApiService): Finding {
  const condition = availabilityOf(registered);
  if (condition?.status === 'True') return ok(SUBJECT, 'is available');
  const { reason = 'no reason', message = 'no message' } = condition ?? {};
  const seen = condition
    ? `is not available: ${reason}: ${message}`
    : 'has no condition "Available": the API server has not checked it yet';
  return failed(SUBJECT, seen, {
    diagnosis: diagnose(reason, message),
    NAMESPACE: doctor.service.split('/', 1)[0] ?? '',
  });
}

/** Reasons and messages of kube-aggregator's availability controller. */
function diagnose(reason: string, message: string): DiagnosisCode {
  if (reason === 'ServiceNotFound') return 'api-service-without-service';
  if (reason === 'MissingEndpoints' || reason === 'EndpointsNotFound') return 'api-service-without-endpoints';
  if (/x509:|certificate/i.test(message)) return 'api-service-certificate-refused';
  const isUnreachable = /connection refused|no route to host|timeout|deadline exceeded|EOF|socket hang up/i;
  return isUnreachable.test(message) ? 'api-service-unreachable' : 'api-service-unavailable';
}

/** Compares the caBundle with the serving certificate. */
async function compareCaBundle(context: DoctorContext, caPem: string): Promise<readonly Finding[]> {
  const { options, doctor, clock } = context;
  const { certFile, certDir } = options.serving;
  const path = certFile ?? join(certDir, 'apiserver.crt');
  const pem = await readFile(path, 'utf8').catch(() => undefined); // reported below
  const [leaf, ...others] = certificatesIn(pem ?? '');
  const subject = 'serving certificate';
  if (!leaf) {
    const seen = `cannot compare the caBundle with a certificate: no certificate at ${path}; run the doctor with the --tls-cert-file of the server`;
    return [{ status: 'unchecked', subject, seen }];
  }
  const findings: Finding[] = [];
  const [namespace = '', name = ''] = doctor.service.split('/');
  const host = `${name}.${namespace}.svc`;
  const authorities = certificatesIn(caPem);
  if (!isVerifiedBy([leaf, ...others], authorities)) {
    const seen = `issued by ${oneLine(leaf.issuer)}; the caBundle has ${authorities.map((one) => oneLine(one.subject)).join(', ')}`;
    findings.push(failed(subject, seen, { diagnosis: 'api-service-ca-mismatch' }));
  }
  if (leaf.checkHost(host) === undefined) {
    const seen = `valid for ${leaf.subjectAltName ?? 'no name'}, not for ${host}`;
    findings.push(failed(subject, seen, { diagnosis: 'serving-certificate-names', HOST: host }));
  }
  const until = leaf.validToDate.toISOString();
  if (leaf.validToDate.getTime() < clock.nowMs()) {
    findings.push(failed(subject, `expired at ${until}`, { diagnosis: 'serving-certificate-expired' }));
  }
  return findings.length > 0
    ? findings
    : [ok(subject, `for ${host}, verified by the caBundle, valid until ${until}`)];
}

/** Whether an authority is, or has signed, a certificate of the chain. */
function isVerifiedBy(
  [leaf, ...others]: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): boolean {
  if (!leaf) return false;
  const isAnchored = authorities.some(
    (authority) => leaf.fingerprint256 === authority.fingerprint256 || isSignedBy(leaf, authority),
  );
  if (isAnchored) return true;
  const issuer = others.find((other) => isSignedBy(leaf, other));
  return (
    issuer !== undefined && isVerifiedBy([issuer, ...others.filter((other) => other !== issuer)], authorities)
  );
}

function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}
