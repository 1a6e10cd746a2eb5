import type { Attributes } from '#lib/apiserver/access/authorizer.ts';
import type { RequestInfo, ResourceRequestInfo } from '#lib/apiserver/http/request-info.ts';
import type { SentSelector } from '#lib/apiserver/http/request-selectors.ts';
import type { FieldRequirement } from '#lib/kubernetes/selectors/field-selector.ts';
import type { LabelOperator, LabelRequirement } from '#lib/kubernetes/selectors/label-requirement.ts';
import { SelectorError } from '#lib/kubernetes/selectors/selector-error.ts';

/** One condition of a selector as `authorization.k8s.io/v1` writes it. */
interface SelectorRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

/** The `spec` of a SubjectAccessReview about a request; what is empty is left out, as in Go. */
export function accessReviewSpec({ user, info }: Attributes): Readonly<Record<string, unknown>> {
  return {
    ...requestAttributes(info),
    ...withoutEmpty({ user: user.name, uid: user.uid }),
    ...(user.groups.length > 0 && { groups: user.groups }),
    ...(Object.keys(user.extra).length > 0 && { extra: user.extra }),
  };
}

/** The part of it that is about the request, and not about its user. */
export function requestAttributes(info: RequestInfo): Readonly<Record<string, unknown>> {
  return info.isResourceRequest
    ? { resourceAttributes: resourceAttributes(info) }
    : { nonResourceAttributes: withoutEmpty({ path: info.path, verb: info.verb }) };
}

function resourceAttributes(info: ResourceRequestInfo): Readonly<Record<string, unknown>> {
  const { namespace, verb, apiGroup, apiVersion, resource, subresource, name } = info;
  const fields = requirementsOf(info.selectors.field).map(fieldRequirement);
  const labels = requirementsOf(info.selectors.label).flatMap(labelRequirement);
  return {
    ...withoutEmpty({ namespace, verb, group: apiGroup, version: apiVersion, resource, subresource, name }),
    ...(fields.length > 0 && { fieldSelector: { requirements: fields } }),
    ...(labels.length > 0 && { labelSelector: { requirements: labels } }),
  };
}

/** A selector that cannot be read narrows nothing: its request is decided on as if it had none, and refused later. */
function requirementsOf<Requirement>({
  parsed,
}: SentSelector<{ readonly requirements: readonly Requirement[] }>): readonly Requirement[] {
  return parsed instanceof SelectorError ? [] : parsed.requirements;
}

function fieldRequirement({ field, operator, value }: FieldRequirement): SelectorRequirement {
  return { key: field, operator: operator === '=' ? 'In' : 'NotIn', values: [value] };
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

function labelRequirement({ key, operator, values }: LabelRequirement): readonly SelectorRequirement[] {
  const word = OPERATORS[operator];
  if (word === undefined) return [];
  return [{ key, operator: word, ...(values.length > 0 && { values }) }];
}

function withoutEmpty(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));
}
