import type { ManifestObject } from '#spec/support/manifest-objects.ts';

/** One verb on one resource, bound to a service account by the manifests. */
export interface GrantedPermission {
  /** `NAMESPACE:NAME` of the service account. */
  readonly account: string;
  readonly role: string;
  readonly verb: string;
  /** `pods`, `deployments/scale.apps`; `*.custom.metrics.k8s.io` for a whole group. */
  readonly resource: string;
  /** Name of the only object to which it applies; `undefined` for all. */
  readonly name: string | undefined;
  /** Namespace of the Role; `undefined` for cluster-wide permissions. */
  readonly namespace: string | undefined;
}

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** Rules of built-in roles that the manifests bind. */
const KUBERNETES_ROLES: Readonly<Record<string, readonly Rule[]>> = {
  'system:auth-delegator': [
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
  ],
  'extension-apiserver-authentication-reader': [
    {
      ...{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] },
      resourceNames: ['extension-apiserver-authentication'],
    },
  ],
};

/** Expands the manifests' bindings to service accounts by verb, resource and name. */
export function grantedPermissions(objects: readonly ManifestObject[]): readonly GrantedPermission[] {
  return objects
    .filter(({ kind }) => kind === 'RoleBinding' || kind === 'ClusterRoleBinding')
    .flatMap((binding) => {
      const { roleRef, subjects, kind } = binding;
      const namespace = kind === 'RoleBinding' ? binding.metadata.namespace : undefined;
      return (subjects as readonly Subject[]).flatMap((subject) =>
        rulesOf(roleRef, namespace, objects).flatMap((rule) =>
          permissionsOf(rule).map((permission) => ({
            ...{ account: `${subject.namespace}:${subject.name}`, role: roleRef.name as string, namespace },
            ...permission,
          })),
        ),
      );
    });
}

interface Subject {
  readonly name: string;
  readonly namespace: string;
}

function rulesOf(
  { kind, name }: { readonly kind: string; readonly name: string },
  namespace: string | undefined,
  objects: readonly ManifestObject[],
): readonly Rule[] {
  const role = objects.find(
    (object) =>
      object.kind === kind &&
      object.metadata.name === name &&
      (kind === 'ClusterRole' || object.metadata.namespace === namespace),
  );
  const rules = role?.rules ?? (Object.hasOwn(KUBERNETES_ROLES, name) ? KUBERNETES_ROLES[name] : undefined);
  if (!rules) throw new Error(`Cannot find ${kind} ${name}, which a binding refers to`);
  return rules;
}

function permissionsOf({ apiGroups = [], resources = [], verbs, resourceNames = [] }: Rule) {
  const names = resourceNames.length === 0 ? [undefined] : resourceNames;
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((name) => ({ verb, resource: group === '' ? resource : `${resource}.${group}`, name })),
      ),
    ),
  );
}
