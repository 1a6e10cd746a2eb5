import type { X509Certificate } from 'node:crypto';
import { type Check, type Finding, findingsOr, note, ok } from '#lib/doctor/check.ts';
import { oneLine } from '#lib/resource-metrics/doctor/certificates.ts';
import { type DiagnosisCode, failed } from '#lib/resource-metrics/doctor/diagnoses.ts';
import type { DoctorContext } from '#lib/resource-metrics/doctor/doctor-context.ts';
import type { KubeletProbe } from '#lib/resource-metrics/doctor/kubelet-probe.ts';
import { formatAddress } from '#lib/resource-metrics/nodes/node-address.ts';
import { CERT_OF_ANOTHER_NAME } from '#lib/resource-metrics/scrape/kubelet/dialer.ts';

/** Checks the certificate of each kubelet. */
export const kubeletCertificates: Check<DoctorContext> = {
  name: 'kubelet-certificates',
  title: 'Kubelet certificates',

  async run(context) {
    const probes = await context.probes();
    return findingsOr(
      'nodes',
      probes.flatMap((probe) => describe(probe, context)),
    );
  },
};

function describe(
  { node, target, attempts, inspection }: KubeletProbe,
  { options, clock }: DoctorContext,
): readonly Finding[] {
  if ('reason' in target || !inspection?.isConnected) return [];
  const subject = `node "${node.name}"`;
  const address = formatAddress(target);
  const outcome = attempts.at(-1)?.outcome;
  const { certificate } = inspection;
  if (!certificate) {
    const because = outcome && 'because' in outcome ? outcome.because : 'no TLS handshake';
    return [
      failed(subject, `${address}: ${because}`, { diagnosis: 'kubelet-without-tls', ADDRESS: address }),
    ];
  }
  const facts = `for ${formatNames(certificate)}, issued by ${oneLine(certificate.issuer)}, valid until ${certificate.validToDate.toISOString()}`;
  if (outcome?.kind === 'untrusted') {
    return [
      failed(subject, `connected to ${address}; ${outcome.because} (${facts})`, {
        diagnosis: diagnose(certificate, { code: outcome.code, nowMs: clock.nowMs() }),
        NODE: node.name,
        ISSUER: oneLine(certificate.issuer),
      }),
    ];
  }
  return [
    options.kubelet.insecureTls
      ? note(subject, `not verified (--kubelet-insecure-tls); ${facts}`)
      : ok(subject, facts),
  ];
}

function diagnose(
  certificate: X509Certificate,
  { code, nowMs }: { readonly code: string; readonly nowMs: number },
): DiagnosisCode {
  const { validFromDate, validToDate, issuer, subject } = certificate;
  const isOutOfTime = nowMs < validFromDate.getTime() || nowMs > validToDate.getTime();
  if (isOutOfTime || code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return 'kubelet-certificate-expired';
  }
  if (code === CERT_OF_ANOTHER_NAME) return 'kubelet-certificate-names';
  return issuer === subject ? 'kubelet-certificate-self-signed' : 'kubelet-certificate-authority';
}

function formatNames({ subjectAltName, subject }: X509Certificate): string {
  return subjectAltName?.replaceAll(/(DNS|IP Address):/g, '') ?? oneLine(subject);
}
