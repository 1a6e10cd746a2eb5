import { parseLabelSelector, SelectorError } from '#lib/kubernetes/selectors/label-selector.ts';
import { metricSelector } from '#lib/kubernetes/selectors/selector-object.ts';
import type { LabelSelectorFields } from '../objects/common-fields.ts';
import type { Declared, SelectedKind } from '../objects/declared-object.ts';
import type { PrometheusSpec } from '../objects/prometheus.ts';
import { refuse, within } from '../objects/refusal.ts';
import type { ObjectSet } from './object-set.ts';

/** Fields of a Prometheus that select the objects of a kind: by their labels, and by those of their namespaces. */
type SelectorFields = readonly [
  keyof PrometheusSpec & `${string}Selector`,
  keyof PrometheusSpec & `${string}Selector`,
];

const SELECTORS: ReadonlyMap<SelectedKind, SelectorFields> = new Map<SelectedKind, SelectorFields>([
  ['ServiceMonitor', ['serviceMonitorSelector', 'serviceMonitorNamespaceSelector']],
  ['PodMonitor', ['podMonitorSelector', 'podMonitorNamespaceSelector']],
  ['Probe', ['probeSelector', 'probeNamespaceSelector']],
  ['ScrapeConfig', ['scrapeConfigSelector', 'scrapeConfigNamespaceSelector']],
]);

/**
 * Selects the objects of a kind for a Prometheus, sorted by namespace and name. An absent selector selects nothing, an absent
 * namespace selector the namespace of the Prometheus; an empty one selects everything.
 *
 * @throws {Refusal} for an invalid selector of the Prometheus
 */
export function selectObjects<Kind extends SelectedKind>(
  kind: Kind,
  { spec, namespace }: Declared<'Prometheus'>,
  objects: ObjectSet,
): readonly Declared<Kind>[] {
  const [field, namespaceField] = SELECTORS.get(kind) ?? [];
  const byLabels = field && spec[field];
  if (byLabels === undefined) return [];
  const matches = within(field ?? '', () => matcher(byLabels));
  const byNamespace = namespaceField && spec[namespaceField];
  const matchesNamespace =
    byNamespace === undefined ? undefined : within(namespaceField ?? '', () => matcher(byNamespace));
  return objects
    .ofKind(kind)
    .filter(
      (one) =>
        matches(one.labels) &&
        (matchesNamespace?.(objects.namespaceLabels(one.namespace)) ?? one.namespace === namespace),
    );
}

/** Whether nothing of a Prometheus' configuration is declared, so that the user writes it. */
export function isUnmanaged({ spec }: Declared<'Prometheus'>): boolean {
  return [...SELECTORS.values()].every(([field]) => spec[field] === undefined);
}

function matcher(fields: LabelSelectorFields): (labels: Readonly<Record<string, string>>) => boolean {
  const selector = parseLabelSelector(selectorText(fields));
  return (labels) => selector.matches(labels);
}

/**
 * Formats a label selector, sorted by key.
 *
 * @throws {Refusal} for an invalid one, with the message of Kubernetes
 */
export function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelectorFields): string {
  try {
    return metricSelector({
      matchLabels,
      matchExpressions: matchExpressions.map(({ key, operator, values = [] }) => ({ key, operator, values })),
    });
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    return refuse(error.message);
  }
}
