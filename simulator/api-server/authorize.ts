import type { AccessRequest, Rbac } from '../access/rbac.ts';
import { parseFieldSelector } from '../objects/field-selector.ts';
import type { ApiRequest } from './api-request.ts';
import { ApiError } from './status.ts';

/** @throws ApiError 403 with the message of the real server, also for impersonation, which is not simulated */
export function authorize(request: ApiRequest, rbac: Rbac): void {
  if (request.raw.headers['impersonate-user'] !== undefined)
    throw new ApiError(403, 'Forbidden', 'the simulator impersonates no user', {});
  const access = accessOf(request);
  if (rbac.decide(request.caller, access).isAllowed) return;
  throw forbidden(request, access);
}

function accessOf({ target, verb, query }: ApiRequest): AccessRequest {
  if (!target.isResource) return { verb, path: target.path };
  const name = target.name ?? nameInSelector(query.get('fieldSelector') ?? '', target.resource);
  const { group, resource, subresource, namespace } = target;
  return {
    verb,
    group,
    resource,
    ...(subresource === undefined ? {} : { subresource }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(name === undefined ? {} : { name }),
  };
}

/** A list or watch of one name by selector is authorized as a request for that name. */
function nameInSelector(fieldSelector: string, resource: string): string | undefined {
  try {
    return parseFieldSelector(fieldSelector, { resource }).name;
  } catch {
    return undefined; // the handler refuses it
  }
}

function forbidden({ caller, target }: ApiRequest, access: AccessRequest): ApiError {
  const user = `User "${caller.username}"`;
  if (!('resource' in access) || !target.isResource) {
    const path = 'path' in access ? access.path : target.path;
    return new ApiError(403, 'Forbidden', `forbidden: ${user} cannot ${access.verb} path "${path}"`, {});
  }
  const { verb, group, resource, subresource, namespace, name } = access;
  const subject = `${group ? `${resource}.${group}` : resource}${name === undefined ? '' : ` "${name}"`}`;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  return new ApiError(
    403,
    'Forbidden',
    `${subject} is forbidden: ${user} cannot ${verb} resource "${what}" in API group "${group}" ${where}`,
    { ...(name === undefined ? {} : { name }), ...(group ? { group } : {}), kind: resource },
  );
}
