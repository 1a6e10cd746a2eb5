import type { Credentials, UserInfo } from '../access/authenticator.ts';
import type { ResourceRequest } from '../access/rbac.ts';
import { type KubeletResponse, textResponse } from './kubelet-http.ts';

/** Authenticates and authorizes a kubelet's callers, as TokenReview and SubjectAccessReview do. */
export interface KubeletGate {
  authenticate(credentials: Credentials): Awaitable<UserInfo | undefined>;
  isAllowed(caller: UserInfo, request: ResourceRequest): Awaitable<boolean>;
}

type Awaitable<T> = T | Promise<T>;

const VERBS: Readonly<Record<string, string>> = { GET: 'get', HEAD: 'get', POST: 'create' };

/**
 * Checks access as a kubelet with webhook authentication and authorization and without anonymous access.
 *
 * @returns the refusal, or `undefined` when access is allowed
 */
export async function checkAccess(
  gate: KubeletGate,
  credentials: Credentials,
  request: { readonly method: string; readonly path: string; readonly nodeName: string },
): Promise<KubeletResponse | undefined> {
  const caller = await gate.authenticate(credentials);
  if (!caller) return textResponse(401, 'Unauthorized');
  const verb = VERBS[request.method] ?? '';
  const subresource = subresourceOf(request.path);
  const access = { verb, group: '', resource: 'nodes', subresource, name: request.nodeName };
  if (await gate.isAllowed(caller, access)) return undefined;
  return textResponse(
    403,
    `Forbidden (user=${caller.username}, verb=${verb}, resource=nodes, subresource(s)=[${subresource}])\n`,
  );
}

function subresourceOf(path: string): string {
  const isUnder = (prefix: string) => path === prefix || path.startsWith(`${prefix}/`);
  if (isUnder('/stats')) return 'stats';
  return isUnder('/metrics') ? 'metrics' : 'proxy';
}
