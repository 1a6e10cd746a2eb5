import { type Check, type Finding, findingsOr, note, ok } from '#lib/doctor/check.ts';
import { type DiagnosisCode, failed } from '#lib/resource-metrics/doctor/diagnoses.ts';
import type { DoctorContext } from '#lib/resource-metrics/doctor/doctor-context.ts';
import type { AttemptOutcome, KubeletProbe } from '#lib/resource-metrics/doctor/kubelet-probe.ts';
import { formatAddress } from '#lib/resource-metrics/nodes/node-address.ts';

/** Checks authentication, authorization, endpoint and response of each kubelet. */
export const kubeletResponses: Check<DoctorContext> = {
  name: 'kubelet-responses',
  title: 'Kubelet responses',

  async run(context) {
    const probes = await context.probes();
    const isForbidden = probes.some(({ attempts }) => statusOf(attempts.at(-1)?.outcome) === 403);
    const account = isForbidden ? await context.account() : undefined;
    return findingsOr(
      'nodes',
      probes.flatMap((probe) => describe(probe, account)),
    );
  },
};

function describe(
  { node, target, attempts, inspection }: KubeletProbe,
  account = 'the account of the doctor',
): readonly Finding[] {
  const subject = `node "${node.name}"`;
  const last = attempts.at(-1);
  if ('reason' in target || !last || last.outcome.kind === 'untrusted') return [];
  const { endpoint, outcome } = last;
  if (outcome.kind === 'responded') {
    const [first] = attempts;
    const { pods, ignored } = outcome.batch;
    const seen = `${endpoint} reports ${pods.length} pods`;
    if (first && first !== last && 'because' in first.outcome) {
      return [note(subject, `${seen}; ${first.endpoint} failed: ${first.outcome.because}`)];
    }
    return [ignored[0] === undefined ? ok(subject, seen) : note(subject, `${seen}; ignored: ${ignored[0]}`)];
  }
  const diagnosis = diagnose(outcome);
  // Failures before the response are reported by the checks of connections and certificates.
  if (outcome.kind === 'failed' && inspection !== undefined && !inspection.certificate) return [];
  return [
    failed(subject, `${endpoint}: ${outcome.because}`, {
      diagnosis,
      NODE: node.name,
      OTHER: outcome.kind === 'misdirected' ? outcome.otherNodeName : 'another node',
      ADDRESS: formatAddress(target),
      ACCOUNT: account,
    }),
  ];
}

const CAUSES: Readonly<Record<number, DiagnosisCode>> = {
  401: 'kubelet-unauthenticated',
  403: 'kubelet-forbidden',
  404: 'kubelet-endpoint-missing',
};

function diagnose(outcome: AttemptOutcome): DiagnosisCode {
  if (outcome.kind === 'unreadable') return 'kubelet-response-unreadable';
  if (outcome.kind === 'excessive') return 'kubelet-response-excessive';
  if (outcome.kind === 'misdirected') return 'kubelet-of-other-node';
  return CAUSES[statusOf(outcome) ?? 0] ?? 'kubelet-response-fails';
}

function statusOf(outcome: AttemptOutcome | undefined): number | undefined {
  return outcome?.kind === 'refused' ? outcome.statusCode : undefined;
}
