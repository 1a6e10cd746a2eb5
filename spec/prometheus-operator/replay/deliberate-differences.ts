import type { Declared, SelectedKind } from '#lib/prometheus-operator/objects/declared-object.ts';

/** The deliberate differences, named as in docs/reference/prometheus-operator.md. */
export const DELIBERATE_DIFFERENCES = [
  ...(['two-authentications', 'authorization-without-credentials', 'discovery-without-api-server'] as const),
  ...(['template-target', 'ipv6-prober', 'unused-discovery'] as const),
  ...(['enforced-label', 'dots-in-selectors', 'crash'] as const),
];
export type DeliberateDifference = (typeof DELIBERATE_DIFFERENCES)[number];

type Reasons = readonly (readonly [RegExp, DeliberateDifference])[];

/** By our reason for refusing what was accepted. */
const REFUSED: Reasons = [
  [/cannot be configured at the same time/, 'two-authentications'],
  [/authorization credentials are required/, 'authorization-without-credentials'],
  [/'apiServer' is required for/, 'discovery-without-api-server'],
];

/** By the recorded reason for refusing what we accept. */
const ACCEPTED: Reasons = [
  [/"[^"]*\$[^"]*" is invalid '(target_label|replacement)' for (replace|labelmap) action/, 'template-target'],
  [/invalid host: "\["/, 'ipv6-prober'],
  [/SDConfigs: \w+ SD configuration is only supported/, 'unused-discovery'],
];

/** @param reason why we refuse an object or a Prometheus that was accepted */
export function refusedDeliberately(reason: string): DeliberateDifference | undefined {
  return REFUSED.find(([pattern]) => pattern.test(reason))?.[1];
}

/** @param note of the recorded event about an object that we accept */
export function acceptedDeliberately(note: string): DeliberateDifference | undefined {
  return ACCEPTED.find(([pattern]) => pattern.test(note))?.[1];
}

/** Why the jobs of an object deliberately differ from the recorded ones. */
export function writtenDifferently(
  object: Declared<SelectedKind>,
  prometheus: Declared<'Prometheus'>,
): DeliberateDifference | undefined {
  if (object.kind === 'ScrapeConfig') {
    const { relabelings } = (object as Declared<'ScrapeConfig'>).spec;
    return prometheus.spec.enforcedNamespaceLabel && !relabelings?.length ? 'enforced-label' : undefined;
  }
  return selectorsOf(object).some((value) => value.includes('.')) ? 'dots-in-selectors' : undefined;
}

function selectorsOf({ kind, spec }: Declared<SelectedKind>): readonly string[] {
  const selector =
    kind === 'Probe'
      ? (spec as Declared<'Probe'>['spec']).targets?.ingress?.selector
      : (spec as Declared<'ServiceMonitor'>['spec']).selector;
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  return [...Object.values(matchLabels), ...matchExpressions.flatMap(({ values = [] }) => values)];
}
