import type { AuditEvent } from '../control-plane/audit-log.ts';
import type { GrantedPermission } from './granted-permissions.ts';

/** A request of a service account, as far as permissions are about it. */
export type PermissionRequest = Pick<AuditEvent, 'user' | 'verb' | 'resource' | 'namespace' | 'name'>;

const REFUSED = [401, 403];

/** The different requests of service accounts that the API server permitted. */
export function permittedRequests(events: readonly AuditEvent[]): readonly PermissionRequest[] {
  const permitted = events
    .filter(({ user, status }) => user.startsWith(ACCOUNT_PREFIX) && !REFUSED.includes(status))
    .map(({ user, verb, resource, namespace, name }) => ({ user, verb, resource, namespace, name }));
  return [...new Map(permitted.map((request) => [JSON.stringify(request), request])).values()];
}

const ACCOUNT_PREFIX = 'system:serviceaccount:';

/** The permissions that no request made use of. */
export function unusedPermissions(
  granted: readonly GrantedPermission[],
  requests: readonly PermissionRequest[],
): readonly GrantedPermission[] {
  return granted.filter((permission) => !requests.some((request) => uses(request, permission)));
}

/** Whether a permission is what a request takes; a request about no object in particular takes none for a name. */
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

/** One line for people. */
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
