import { z } from 'zod';
import type { Authenticator } from '../access/authenticator.ts';
import type { AccessRequest, Decision, Rbac } from '../access/rbac.ts';
import { groupVersion, type ResourceType } from '../resources/resource-type.ts';
import type { ApiRequest } from './api-request.ts';
import { sendJson } from './representation.ts';
import { ApiError, badRequest, methodNotAllowed } from './status.ts';
import { readStructured } from './writes/read-object.ts';

interface ReviewContext {
  readonly authenticator: Authenticator;
  readonly rbac: Rbac;
}

const strings = z.array(z.string()).nullish();

const resourceAttributes = z.looseObject({
  namespace: z.string().optional(),
  verb: z.string().optional(),
  group: z.string().optional(),
  version: z.string().optional(),
  resource: z.string().optional(),
  subresource: z.string().optional(),
  name: z.string().optional(),
});

const review = z.looseObject({
  spec: z
    .looseObject({
      token: z.string().optional(),
      resourceAttributes: resourceAttributes.nullish(),
      nonResourceAttributes: z
        .looseObject({ path: z.string().optional(), verb: z.string().optional() })
        .nullish(),
      user: z.string().optional(),
      groups: strings,
    })
    .default({}),
});

type Review = z.output<typeof review>;

/** Responds to a TokenReview or an access review; nothing is stored. */
export async function serveReview(
  request: ApiRequest,
  type: ResourceType,
  context: ReviewContext,
): Promise<void> {
  if (request.verb !== 'create') throw methodNotAllowed();
  const { spec } = await readReview(request);
  const status = statusOf(type, spec, request, context);
  const reply = { kind: type.kind, apiVersion: groupVersion(type), metadata: {}, spec, status };
  sendJson(request, 201, reply);
}

async function readReview(request: ApiRequest): Promise<Review> {
  const parsed = review.safeParse(await readStructured(request));
  if (parsed.success) return parsed.data;
  throw badRequest(`the object provided is unrecognized: ${parsed.error.message}`);
}

function statusOf(
  type: ResourceType,
  spec: Review['spec'],
  { caller }: ApiRequest,
  { authenticator, rbac }: ReviewContext,
): unknown {
  switch (type.kind) {
    case 'TokenReview':
      return tokenStatus(spec.token ?? '', authenticator);
    case 'SelfSubjectReview':
      return { userInfo: caller };
    case 'SelfSubjectAccessReview':
      return accessStatus(rbac.decide(caller, accessOf(spec, [])));
    case 'SubjectAccessReview': {
      const hasSubject = Boolean(spec.user) || Boolean(spec.groups?.length);
      const access = accessOf(spec, hasSubject ? [] : [NO_SUBJECT]);
      return accessStatus(rbac.decide({ username: spec.user ?? '', groups: spec.groups ?? [] }, access));
    }
    default:
      throw methodNotAllowed();
  }
}

function tokenStatus(token: string, authenticator: Authenticator): unknown {
  const user = authenticator.reviewToken(token);
  if (!user) return { user: {}, error: 'invalid bearer token' };
  return { authenticated: true, user, audiences: ['https://kubernetes.default.svc.cluster.local'] };
}

function accessStatus({ isAllowed, reason }: Decision): unknown {
  return { allowed: isAllowed, ...(reason === undefined ? {} : { reason }) };
}

interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

const NO_SUBJECT: Cause = {
  reason: 'FieldValueInvalid',
  message: 'Invalid value: "": at least one of user or group must be specified',
  field: 'spec.user',
};

const NO_ATTRIBUTES: Cause = {
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
  field: 'spec.resourceAttributes',
};

function accessOf(
  { resourceAttributes: resource, nonResourceAttributes: path }: Review['spec'],
  found: readonly Cause[],
): AccessRequest {
  const causes = Boolean(resource) === Boolean(path) ? [NO_ATTRIBUTES, ...found] : found;
  if (causes.length > 0) throw invalid(causes);
  if (path) return { verb: path.verb ?? '', path: path.path ?? '' };
  const {
    verb = '',
    group = '',
    resource: name = '',
    subresource,
    namespace,
    name: objectName,
  } = resource ?? {};
  return {
    verb,
    group,
    resource: name,
    ...(subresource ? { subresource } : {}),
    ...(namespace ? { namespace } : {}),
    ...(objectName ? { name: objectName } : {}),
  };
}

function invalid(causes: readonly Cause[]): ApiError {
  const found = causes.map(({ field, message }) => `${field}: ${message}`);
  const list = found.length === 1 ? found[0] : `[${found.join(', ')}]`;
  return new ApiError(422, 'Invalid', `.authorization.k8s.io "" is invalid: ${list}`, {
    group: 'authorization.k8s.io',
    causes,
  });
}
