import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../access/authenticator.ts';
import type { Rbac } from '../access/rbac.ts';
import { ApiError } from './status.ts';

/**
 * Whom a request is made as: by `Impersonate-User` and `Impersonate-Group`, which `kubectl --as` sends, somebody
 * other than who sent it.
 *
 * @returns `undefined` when the sender may not be that user
 */
export function impersonated(sender: Caller, headers: IncomingHttpHeaders, rbac: Rbac): Caller | undefined {
  const username = headers['impersonate-user'];
  if (typeof username !== 'string') return sender;
  const access = { verb: 'impersonate', group: '', resource: 'users', name: username };
  if (!rbac.decide(sender, access).isAllowed) return undefined;
  const groups = String(headers['impersonate-group'] ?? '')
    .split(',')
    .map((group) => group.trim())
    .filter((group) => group !== '');
  return { username, groups: [...groups, 'system:authenticated'] };
}

/** 403 for a sender who may not be somebody else. */
export function mayNotImpersonate(sender: Caller, headers: IncomingHttpHeaders): ApiError {
  const name = String(headers['impersonate-user']);
  return new ApiError(
    403,
    'Forbidden',
    `users "${name}" is forbidden: User "${sender.username}" cannot impersonate resource "users" in API group "" at the cluster scope`,
    { name, kind: 'users' },
  );
}
