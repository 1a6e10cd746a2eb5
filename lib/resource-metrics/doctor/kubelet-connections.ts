import type { NameLookupCode } from '#lib/dns/name-resolver.ts';
import { type Check, type Finding, findingsOr, ok } from '#lib/doctor/check.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { type DiagnosisCode, failed } from '#lib/resource-metrics/doctor/diagnoses.ts';
import type { DoctorContext } from '#lib/resource-metrics/doctor/doctor-context.ts';
import type { KubeletProbe } from '#lib/resource-metrics/doctor/kubelet-probe.ts';
import { formatAddress } from '#lib/resource-metrics/nodes/node-address.ts';

/** Checks the connection to each kubelet. */
export const kubeletConnections: Check<DoctorContext> = {
  name: 'kubelet-connections',
  title: 'Kubelet connections',

  async run(context) {
    const probes = await context.probes();
    return findingsOr('nodes', probes.flatMap(describe));
  },
};

function describe({ node, target, attempts, inspection }: KubeletProbe): readonly Finding[] {
  if ('reason' in target) return [];
  const subject = `node "${node.name}"`;
  const address = formatAddress(target);
  const outcome = attempts.at(-1)?.outcome;
  if (outcome?.kind !== 'failed' || inspection?.isConnected) return [ok(subject, `${address} is reachable`)];
  const { kubeletPort, addresses } = node;
  const isOtherPort = kubeletPort !== undefined && kubeletPort !== target.port;
  const hint = isOtherPort ? `; according to the node's status, its kubelet uses port ${kubeletPort}` : '';
  return [
    failed(subject, `${address}: ${outcome.because}${hint}`, {
      diagnosis: diagnose(outcome.code),
      NODE: node.name,
      ADDRESS: address,
      HOST: target.host,
      TYPES: [...new Set(addresses.map(({ type }) => type))].join(', '),
    }),
  ];
}

const DIAGNOSES: Readonly<Record<NameLookupCode | 'ECONNREFUSED', DiagnosisCode>> = {
  ECONNREFUSED: 'kubelet-refuses-connections',
  DNS_NO_SUCH_HOST: 'node-name-unresolved',
  DNS_SILENT: 'node-name-unresolved',
  DNS_FAILED: 'node-name-unresolved',
  DNS_BUSY: 'node-name-unresolved',
};

function diagnose(code: string | undefined): DiagnosisCode {
  const diagnoses: Readonly<Record<string, DiagnosisCode>> = DIAGNOSES;
  return (code !== undefined && getOwn(diagnoses, code)) || 'kubelet-unreachable';
}
