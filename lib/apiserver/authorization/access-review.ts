import type { Attributes } from '#lib/apiserver/authorization.ts';
import type { ResourceRequestInfo } from '#lib/apiserver/request-info.ts';
import { parseFieldSelector } from '#lib/kubernetes/selectors/field-selector.ts';
import type { LabelOperator } from '#lib/kubernetes/selectors/label-requirement.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { SelectorError } from '#lib/kubernetes/selectors/selector-error.ts';

/** One condition of a selector as `authorization.k8s.io/v1` writes it. */
interface SelectorRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

/** The `spec` of a SubjectAccessReview about a request; what is empty is left out, as in Go. */
export function accessReviewSpec({ user, info }: Attributes): Readonly<Record<string, unknown>> {
  const attributes = info.isResourceRequest
    ? { resourceAttributes: resourceAttributes(info) }
    : { nonResourceAttributes: withoutEmpty({ path: info.path, verb: info.verb }) };
  return {
    ...attributes,
    ...withoutEmpty({ user: user.name, uid: user.uid }),
    ...(user.groups.length > 0 && { groups: user.groups }),
    ...(Object.keys(user.extra).length > 0 && { extra: user.extra }),
  };
}

function resourceAttributes(info: ResourceRequestInfo): Readonly<Record<string, unknown>> {
  const { namespace, verb, apiGroup, apiVersion, resource, subresource, name } = info;
  const fields = understood(() => fieldRequirements(info.fieldSelector));
  const labels = understood(() => labelRequirements(info.labelSelector));
  return {
    ...withoutEmpty({ namespace, verb, group: apiGroup, version: apiVersion, resource, subresource, name }),
    ...(fields.length > 0 && { fieldSelector: { requirements: fields } }),
    ...(labels.length > 0 && { labelSelector: { requirements: labels } }),
  };
}

/** A selector that cannot be read narrows nothing: its request is decided on as if it had none, and refused later. */
function understood(read: () => readonly SelectorRequirement[]): readonly SelectorRequirement[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof SelectorError) return [];
    throw error;
  }
}

function fieldRequirements(selector: string): readonly SelectorRequirement[] {
  return parseFieldSelector(selector).requirements.map(({ field, operator, value }) => ({
    key: field,
    operator: operator === '=' ? 'In' : 'NotIn',
    values: [value],
  }));
}

const OPERATORS: Readonly<Record<LabelOperator, SelectorRequirement['operator'] | undefined>> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
  gt: undefined, // has no word in reviews
  lt: undefined,
};

function labelRequirements(selector: string): readonly SelectorRequirement[] {
  return parseLabelSelector(selector).requirements.flatMap(({ key, operator, values }) => {
    const word = OPERATORS[operator];
    if (word === undefined) return [];
    return [{ key, operator: word, ...(values.length > 0 && { values }) }];
  });
}

function withoutEmpty(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));
}
