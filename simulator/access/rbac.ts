import type { UserInfo } from './authenticator.ts';

/** A request to authorize: for a resource, or for another path. */
export type AccessRequest = ResourceRequest | PathRequest;

/** The attributes of a request for a resource. */
export interface ResourceRequest {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** The attributes of a request for another path. */
interface PathRequest {
  readonly verb: string;
  readonly path: string;
}

/** A `PolicyRule` of rbac.authorization.k8s.io/v1; `*` matches everything. */
export interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  /** With its subresource after a slash, as in `nodes/stats`. */
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  /** A star at the end matches the rest. */
  readonly nonResourceURLs?: readonly string[];
}

/** Rules granted to users and groups: a role and its binding in one. */
export interface Grant {
  /** The name of the binding in the reason of a decision. */
  readonly name: string;
  readonly role: string;
  readonly users?: readonly string[];
  readonly groups?: readonly string[];
  /** The namespace of the binding; all namespaces when absent. */
  readonly namespace?: string;
  readonly rules: readonly Rule[];
}

/** Whether a request is allowed, and by which grant. */
export interface Decision {
  readonly isAllowed: boolean;
  readonly reason?: string;
}

/** Role-based access control by grants that may change at any time. */
export class Rbac {
  readonly #grants = new Map<string, Grant>();

  constructor(grants: Iterable<Grant> = []) {
    for (const grant of grants) this.grant(grant);
  }

  /** Adds a grant; replaces one with the same name. */
  grant(grant: Grant): void {
    this.#grants.set(grant.name, grant);
  }

  revoke(name: string): void {
    this.#grants.delete(name);
  }

  decide(caller: UserInfo, request: AccessRequest): Decision {
    if (caller.groups.includes('system:masters')) return { isAllowed: true };
    for (const grant of this.#grants.values()) {
      const subject = subjectOf(grant, caller);
      if (subject && reaches(grant, request) && grant.rules.some((rule) => covers(rule, request))) {
        return { isAllowed: true, reason: reasonOf(grant, subject) };
      }
    }
    return { isAllowed: false };
  }
}

function subjectOf({ users = [], groups = [] }: Grant, caller: UserInfo): string | undefined {
  if (users.includes(caller.username)) {
    const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(caller.username) ?? [];
    return name ? `ServiceAccount "${name}/${namespace}"` : `User "${caller.username}"`;
  }
  const group = groups.find((one) => caller.groups.includes(one));
  return group === undefined ? undefined : `Group "${group}"`;
}

function reasonOf({ name, role, namespace }: Grant, subject: string): string {
  return namespace === undefined
    ? `RBAC: allowed by ClusterRoleBinding "${name}" of ClusterRole "${role}" to ${subject}`
    : `RBAC: allowed by RoleBinding "${name}/${namespace}" of Role "${role}" to ${subject}`;
}

function reaches({ namespace }: Grant, request: AccessRequest): boolean {
  return namespace === undefined || ('resource' in request && request.namespace === namespace);
}

function covers(rule: Rule, request: AccessRequest): boolean {
  if (!matches(rule.verbs, request.verb)) return false;
  if (!('resource' in request))
    return (rule.nonResourceURLs ?? []).some((url) => matchesPath(url, request.path));
  const resource = request.subresource ? `${request.resource}/${request.subresource}` : request.resource;
  return (
    matches(rule.apiGroups ?? [], request.group) &&
    matches(rule.resources ?? [], resource) &&
    (rule.resourceNames === undefined || rule.resourceNames.includes(request.name ?? ''))
  );
}

function matches(allowed: readonly string[], value: string): boolean {
  return allowed.includes('*') || allowed.includes(value);
}

function matchesPath(pattern: string, path: string): boolean {
  return pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : pattern === path;
}
