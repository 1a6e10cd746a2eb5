/** As Kubernetes' controller prints selectors in conditions, events and names of metrics. */
const SELECTOR =
  /\(?&LabelSelector\{MatchLabels:map\[string\]string\{([^{}]*)\},MatchExpressions:\[\]LabelSelectorRequirement\{((?:LabelSelectorRequirement\{[^{}]*\},)*)\},\}\)?/g;
const REQUIREMENT = /LabelSelectorRequirement\{Key:([^{},]*),Operator:([^{},]*),Values:\[([^{}[\]]*)\],\},/g;

/**
 * Rewrites selectors in a text of Kubernetes' format, `queue(&LabelSelector{MatchLabels:map[string]string{app: shop,},…})`,
 * as kubectl writes them, `queue{app=shop}`; an absent selector, `queue(nil)`, is removed.
 */
export function shortenSelectors(text: string): string {
  return text
    .replace(SELECTOR, (_, labels: string, expressions: string) => {
      const parts = [...readLabels(labels), ...readRequirements(expressions)];
      return `{${parts.join(', ')}}`;
    })
    .replaceAll('(nil)', '')
    .replaceAll('/nil: ', ': ');
}

function readLabels(labels: string): readonly string[] {
  return labels
    .split(',')
    .filter((label) => label !== '')
    .map((label) => label.replace(': ', '='));
}

function readRequirements(expressions: string): readonly string[] {
  return [...expressions.matchAll(REQUIREMENT)].map(([, key = '', operator = '', values = '']) => {
    if (operator === 'Exists') return key;
    if (operator === 'DoesNotExist') return `!${key}`;
    return `${key} ${operator.toLowerCase()} (${values.split(' ').join(', ')})`;
  });
}
