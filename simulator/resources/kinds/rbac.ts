import { type BuiltIn, builtIn, kind, list, object, open, text } from './kind-builders.ts';

const common = { group: 'rbac.authorization.k8s.io', version: 'v1', takesAnyName: true } as const;

const texts = (what: string) => list(what, text('One of them.'));

const rules = list(
  'What it allows.',
  object(
    'One rule.',
    {
      verbs: texts('What may be done.'),
      apiGroups: texts('Groups of the resources.'),
      resources: texts('With subresources after a slash.'),
      resourceNames: texts('Names of the objects; all where there are none.'),
      nonResourceURLs: texts('Paths that are no resources.'),
    },
    { required: ['verbs'] },
  ),
);

const roleSchema = kind('Role allows what its rules say.', { rules });

const clusterRoleSchema = kind('ClusterRole allows what its rules say, everywhere.', {
  rules,
  aggregationRule: open('From which others it takes its rules.'),
});

const bindingSchema = kind('A binding gives a role to somebody.', {
  subjects: list(
    'To whom.',
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

/** Roles and their bindings, as objects alone: who may do what is a scenario's to say. */
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
