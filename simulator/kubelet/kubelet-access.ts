import type { Caller, Credentials } from '../access/authenticator.ts';
import type { ResourceRequest } from '../access/rbac.ts';
import { type KubeletResponse, textResponse } from './kubelet-http.ts';

/** Whom the cluster knows and what it lets them do; kubelets ask it by TokenReview and SubjectAccessReview. */
export interface KubeletGate {
  authenticate(credentials: Credentials): Awaitable<Caller | undefined>;
  isAllowed(caller: Caller, request: ResourceRequest): Awaitable<boolean>;
}

/** Told at once, as within one process, or after asking elsewhere. */
type Awaitable<T> = T | Promise<T>;

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/**
 * Decides as a kubelet with webhook authentication and authorization and without anonymous access does.
 *
 * @returns the refusal, or `undefined` when the caller may go on
 */
export async function refusalOf(
  gate: KubeletGate,
  credentials: Credentials,
  request: { readonly method: string; readonly path: string; readonly nodeName: string },
): Promise<KubeletResponse | undefined> {
  const caller = await gate.authenticate(credentials);
  if (!caller) return textResponse(401, 'Unauthorized');
  const verb = VERBS[request.method] ?? '';
  const subresources = subresourcesOf(request.path);
  for (const subresource of subresources) {
    const access = { verb, group: '', resource: 'nodes', subresource, name: request.nodeName };
    if (await gate.isAllowed(caller, access)) return undefined;
  }
  return textResponse(
    403,
    `Forbidden (user=${caller.username}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(' ')}])\n`,
  );
}

/** Any one of these suffices: since 1.33 some paths have a permission of their own beside `nodes/proxy`. */
function subresourcesOf(path: string): readonly string[] {
  const isUnder = (prefix: string) => path === prefix || path.startsWith(`${prefix}/`);
  if (isUnder('/stats')) return ['stats'];
  if (isUnder('/metrics')) return ['metrics'];
  if (isUnder('/logs')) return ['log'];
  if (isUnder('/checkpoint')) return ['checkpoint'];
  if (path === '/healthz') return ['healthz', 'proxy'];
  if (path === '/configz') return ['configz', 'proxy'];
  if (path === '/pods' || path === '/runningpods') return ['pods', 'proxy'];
  return ['proxy'];
}
