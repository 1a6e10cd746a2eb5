import type { User } from '#lib/apiserver/http/api-context.ts';
import {
  NO_SELECTORS,
  type RequestInfo,
  type ResourceRequestInfo,
  type SentSelector,
} from '#lib/apiserver/http/request-info.ts';
import { StatusError } from '#lib/apiserver/http/status-error.ts';
import { ExpiringCache } from '#lib/cache/expiring-cache.ts';
import { memoizeByObject } from '#lib/cache/memoize.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { FieldRequirement } from '#lib/kubernetes/selectors/field-selector.ts';
import {
  type LabelOperator,
  type LabelRequirement,
  SelectorError,
} from '#lib/kubernetes/selectors/label-selector.ts';
import type { Clock } from '#lib/time/clock.ts';
import {
  type Attributes,
  type Authorizer,
  type Decision,
  isAlwaysAllowed,
  type PathRules,
} from './authorizer.ts';
import type { ReviewClient } from './review-client.ts';

interface DelegatedAuthorizerOptions {
  readonly client: ReviewClient;
  readonly clock: Clock;
  readonly alwaysAllowed: PathRules;
  /** How long the API server's decisions are cached. */
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
}

/** Members of this group may do everything in any cluster. */
const ADMINISTRATORS = 'system:masters';

/** As many as Kubernetes' servers cache. */
const MAX_DECISIONS = 8192;

/** Decisions for longer attributes are not cached: only attacks have them. */
const MAX_KEY_LENGTH = 10_000;

const PATH = '/apis/authorization.k8s.io/v1/subjectaccessreviews';

/**
 * Delegates decisions to the API server. Administrators and the always allowed paths need none. Where the API server
 * does not respond, all other requests fail, whatever it returned before the cache expired.
 *
 * A user who may list everything may list any selection of it, so that is reviewed first: each autoscaler has its own
 * selector, and requests it less often than cached decisions expire, so the API server would get a review for every
 * request.
 */
export function delegatedAuthorizer(options: DelegatedAuthorizerOptions): Authorizer {
  const { client, clock, alwaysAllowed, authorizedTtlMs, unauthorizedTtlMs } = options;
  const cache = new ExpiringCache<Decision>({ clock, maxEntries: MAX_DECISIONS });
  const decide = (attributes: Attributes) => {
    return cache.getOrCompute(keyOf(attributes), {
      compute: async (signal) => {
        const spec = accessReviewSpec(attributes);
        const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec };
        return decisionOf(await client.review(PATH, review, { flow: attributes.user.name, signal }));
      },
      lifetimeMs: ({ isAllowed }) => {
        if (lengthOf(attributes) > MAX_KEY_LENGTH) return 0;
        return isAllowed ? authorizedTtlMs : unauthorizedTtlMs;
      },
      signal: attributes.signal,
    });
  };
  const review = async (attributes: Attributes, everything: Attributes | undefined) => {
    try {
      if (!everything) return await decide(attributes);
      const decision = await decide(everything);
      return decision.isAllowed ? decision : await decide(attributes);
    } catch (cause) {
      if (cause instanceof StatusError) throw cause; // the request's deadline has passed
      throw new StatusError(
        500,
        'InternalError',
        'Internal error occurred: cannot get an authorization decision from the API server',
        { details: {}, cause },
      );
    }
  };
  return (attributes) => {
    if (attributes.user.groups.includes(ADMINISTRATORS)) return { isAllowed: true };
    if (isAlwaysAllowed(attributes.info, alwaysAllowed)) return { isAllowed: true };
    const everything = withoutSelectors(attributes);
    for (const one of [everything, attributes]) {
      const cached = one && cache.get(keyOf(one));
      if (cached?.isAllowed) return cached;
    }
    return review(attributes, everything);
  };
}

/** Key of cached decisions. Requests for one URL share one info object, and those of one connection one user. */
function keyOf({ user, info }: Attributes): string {
  return `${infoKeyOf(info)} ${userKeyOf(user)}`;
}

const infoKeyOf = memoizeByObject((info: RequestInfo) => JSON.stringify(requestAttributes(info)));
const userKeyOf = memoizeByObject(({ name, uid, groups, extra }: User) =>
  JSON.stringify([name, uid, groups, extra]),
);

/** @returns `undefined` where there are none */
function withoutSelectors({ info, ...caller }: Attributes): Attributes | undefined {
  if (!info.isResourceRequest || lengthOfSelectors(info) === 0) return undefined;
  return { ...caller, info: unselected(info) };
}

const unselected = memoizeByObject((info: ResourceRequestInfo) => ({ ...info, selectors: NO_SELECTORS }));

function decisionOf(review: unknown): Decision {
  const status = propertyOf(review, 'status');
  const isAllowed = propertyOf(status, 'allowed') === true && propertyOf(status, 'denied') !== true;
  const reason = propertyOf(status, 'reason');
  return { isAllowed, ...(typeof reason === 'string' && reason !== '' && { reason }) };
}

function lengthOf({ info }: Attributes): number {
  if (!info.isResourceRequest) return info.path.length + info.verb.length;
  const { path, namespace, apiGroup, apiVersion, resource, subresource, name } = info;
  const texts = [path, namespace, apiGroup, apiVersion, resource, subresource, name];
  return texts.reduce((sum, { length }) => sum + length, lengthOfSelectors(info));
}

function lengthOfSelectors({ selectors }: ResourceRequestInfo): number {
  return selectors.field.text.length + selectors.label.text.length;
}

/** One requirement of a selector, as in `authorization.k8s.io/v1`. */
interface SelectorRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

/** The `spec` of a SubjectAccessReview about a request; empty fields are left out, as in Go. */
export function accessReviewSpec({ user, info }: Attributes): Readonly<Record<string, unknown>> {
  return {
    ...requestAttributes(info),
    ...withoutEmpty({ user: user.name, uid: user.uid }),
    ...(user.groups.length > 0 && { groups: user.groups }),
    ...(Object.keys(user.extra).length > 0 && { extra: user.extra }),
  };
}

/** The attributes of the request, without its user. */
function requestAttributes(info: RequestInfo): Readonly<Record<string, unknown>> {
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

/** A selector that cannot be parsed restricts nothing: its request is reviewed without it, and refused later. */
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
  gt: undefined, // reviews have no operator for this
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
