import { type BuiltIn, builtIn, kind, list, object, open, text } from './kind-builders.ts';

const common = { group: 'rbac.authorization.k8s.io', version: 'v1', allowsPathSegmentNames: true } as const;

const texts = (what: string) => list(what, text('One of them.'));

const rules = list(
  'Permissions of the role.',
  object(
    'One rule.',
    {
      verbs: texts('Allowed verbs.'),
      apiGroups: texts('Groups of the resources.'),
      resources: texts('With subresources after a slash.'),
      resourceNames: texts('Names of the objects; all where there are none.'),
      nonResourceURLs: texts('Paths that are no resources.'),
    },
    { required: ['verbs'] },
  ),
);

const roleSchema = kind('Role grants permissions in its namespace.', { rules });

const clusterRoleSchema = kind('ClusterRole grants permissions in all namespaces.', {
  rules,
  aggregationRule: open('Selectors of the ClusterRoles whose rules it combines.'),
});

const bindingSchema = kind('A binding grants a role to subjects.', {
  subjects: list(
    'Users, groups and service accounts.',
    object(
      'One of them.',
      {
        kind: text('User, Group or ServiceAccount.'),
        apiGroup: text('Its group.'),
        name: text('Its name.'),
        namespace: text('Its namespace.'),
      },
      { required: ['kind', 'name'] },
    ),
  ),
  roleRef: object(
    'Which role.',
    {
      apiGroup: text('rbac.authorization.k8s.io'),
      kind: text('Role or ClusterRole.'),
      name: text('Its name.'),
    },
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
    schema: clusterRoleSchema,
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
