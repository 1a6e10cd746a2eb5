import { servingFlags } from '#lib/apiserver/flags/serving-flags.ts';
import type { FlagValues } from '#lib/flags/flag.ts';
import { FlagError } from '#lib/flags/flag-error.ts';
import { generalFlags, kubeletFlags } from '#lib/resource-metrics/flags.ts';
import { formatDuration } from '#lib/time/duration.ts';

const FLAGS = { ...generalFlags, ...kubeletFlags, ...servingFlags };

type Property = keyof typeof FLAGS;

/** Pairs of which at most one may be given. */
const CONTRADICTIONS: readonly (readonly [Property, Property])[] = [
  ['kubeletCertificateAuthority', 'kubeletCertificateAuthorityText'],
  ['kubeletCertificateAuthority', 'kubeletInsecureTls'],
  ['kubeletCertificateAuthorityText', 'kubeletInsecureTls'],
  ['kubeletClientKey', 'deprecatedKubeletCompletelyInsecure'],
  ['kubeletClientCertificate', 'deprecatedKubeletCompletelyInsecure'],
  ['kubeletInsecureTls', 'deprecatedKubeletCompletelyInsecure'],
  ['kubeletCertificateAuthority', 'deprecatedKubeletCompletelyInsecure'],
  ['kubeletCertificateAuthorityText', 'deprecatedKubeletCompletelyInsecure'],
];

/** Pairs that are given together or not at all. */
const COMPANIONS: readonly (readonly [Property, Property])[] = [
  ['kubeletClientCertificate', 'kubeletClientKey'],
  ['tlsCertFile', 'tlsPrivateKeyFile'],
];

/** A kubelet that responds at the last moment leaves the cycle this much of its time. */
const MAX_REQUEST_SHARE = 0.9;

/** @throws {FlagError} naming two flags that, with their values, cannot both be meant */
export function refuseContradictions(values: FlagValues<typeof FLAGS>): void {
  for (const [one, other] of CONTRADICTIONS) {
    if (!values[one] || !values[other]) continue;
    throw new FlagError(
      `${written(one, values)} contradicts ${written(other, values)}: give only one of them`,
    );
  }
  for (const [one, other] of COMPANIONS) {
    if (Boolean(values[one]) === Boolean(values[other])) continue;
    const [present, absent] = values[one] ? [one, other] : [other, one];
    throw new FlagError(`${written(present, values)} needs --${FLAGS[absent].name}: give both or none`);
  }
  const { kubeletRequestTimeoutMs, metricResolutionMs, metricStalenessMs } = values;
  if (kubeletRequestTimeoutMs > metricResolutionMs * MAX_REQUEST_SHARE) {
    throw new FlagError(
      `${written('kubeletRequestTimeoutMs', values)} is too long for ${written('metricResolutionMs', values)}: ` +
        `must be at most 90% of it, ${formatDuration(metricResolutionMs * MAX_REQUEST_SHARE)}`,
    );
  }
  const shortestStalenessMs = metricResolutionMs + kubeletRequestTimeoutMs;
  if (metricStalenessMs && metricStalenessMs < shortestStalenessMs) {
    throw new FlagError(
      `${written('metricStalenessMs', values)} is too short: must be 0s, or at least --metric-resolution and ` +
        `--kubelet-request-timeout together, ${formatDuration(shortestStalenessMs)}`,
    );
  }
}

function written(property: Property, values: FlagValues<typeof FLAGS>): string {
  const value = values[property];
  const { name } = FLAGS[property];
  if (typeof value === 'boolean') return `--${name}`;
  return `--${name}=${typeof value === 'number' ? formatDuration(value) : firstLine(String(value))}`;
}

/** A certificate given as text has many. */
function firstLine(text: string): string {
  const [first = '', ...others] = text.split('\n');
  return others.length > 0 ? `${first}…` : first;
}
