import type { AuditEvent } from '../control-plane/audit-log.ts';
import type { GrantedPermission } from './granted-permissions.ts';

/** The fields of a service account's request that permissions depend on. */
export type PermissionRequest = Pick<AuditEvent, 'user' | 'verb' | 'resource' | 'namespace' | 'name'>;

const REFUSED = [401, 403];

/** Distinct requests of service accounts that the API server allowed. */
export function permittedRequests(events: readonly AuditEvent[]): readonly PermissionRequest[] {
  const permitted = events
    .filter(({ user, status }) => user.startsWith(ACCOUNT_PREFIX) && !REFUSED.includes(status))
    .map(({ user, verb, resource, namespace, name }) => ({ user, verb, resource, namespace, name }));
  return [...new Map(permitted.map((request) => [JSON.stringify(request), request])).values()];
}

const ACCOUNT_PREFIX = 'system:serviceaccount:';

export function unusedPermissions(
  granted: readonly GrantedPermission[],
  requests: readonly PermissionRequest[],
): readonly GrantedPermission[] {
  return granted.filter((permission) => !requests.some((request) => uses(request, permission)));
}

/**
 * Whether a request needs a permission. A request without an object name uses no permission that is limited to names.
 */
function uses(request: PermissionRequest, permission: GrantedPermission): boolean {
  return (
    request.user === `${ACCOUNT_PREFIX}${permission.account}` &&
    request.verb === permission.verb &&
    isOf(request.resource, permission.resource) &&
    (permission.name === undefined || request.name === permission.name) &&
    (permission.namespace === undefined || request.namespace === permission.namespace)
  );
}

function isOf(resource: string, granted: string): boolean {
  return granted.startsWith('*') ? resource.endsWith(granted.slice(1)) : resource === granted;
}

/** Formats a permission in one line. */
export function formatPermission({
  account,
  role,
  verb,
  resource,
  name,
  namespace,
}: GrantedPermission): string {
  const place = namespace === undefined ? '' : ` in ${namespace}`;
  return `${account}: ${verb} ${resource}${name === undefined ? '' : ` ${name}`}${place} (${role})`;
}
