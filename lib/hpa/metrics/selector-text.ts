import type { LabelSelectorObject } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';

/** Writes a selector of labels as Kubernetes' controller prints it in conditions and events; none is `nil`. */
export function selectorText(selector: LabelSelectorObject | undefined): string {
  if (!selector) return 'nil';
  const labels = Object.entries(selector.matchLabels ?? {})
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`);
  const expressions = (selector.matchExpressions ?? []).map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}
