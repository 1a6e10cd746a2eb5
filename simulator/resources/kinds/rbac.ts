import { type BuiltIn, builtIn, list, object, open, openKind, text } from './kind-builders.ts';

const common = { group: 'rbac.authorization.k8s.io', version: 'v1', allowsPathSegmentNames: true } as const;

const roleSchema = openKind({ rules: list(open({ verbs: list(text()) }, { required: ['verbs'] })) });

const bindingSchema = openKind({
  subjects: list(open({ kind: text(), name: text() }, { required: ['kind', 'name'] })),
  roleRef: object(
    { apiGroup: text(), kind: text(), name: text() },
    { required: ['apiGroup', 'kind', 'name'], 'x-kubernetes-map-type': 'atomic' },
  ),
});

/** Roles and bindings as objects only: the scenario grants permissions. */
export const RBAC: readonly BuiltIn[] = [
  builtIn({
    ...common,
    resource: 'clusterrolebindings',
    kind: 'ClusterRoleBinding',
    isNamespaced: false,
    schema: bindingSchema,
  }),
  builtIn({
    ...common,
    resource: 'clusterroles',
    kind: 'ClusterRole',
    isNamespaced: false,
    schema: roleSchema,
  }),
  builtIn({
    ...common,
    resource: 'rolebindings',
    kind: 'RoleBinding',
    isNamespaced: true,
    schema: bindingSchema,
  }),
  builtIn({ ...common, resource: 'roles', kind: 'Role', isNamespaced: true, schema: roleSchema }),
];
