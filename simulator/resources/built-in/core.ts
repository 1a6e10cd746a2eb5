import { type BuiltIn, builtIn } from './built-in-type.ts';
import { POD_SPEC } from './pod-template.ts';
import { integer, integerOrText, keyed, kind, open, openKind, text, textMap } from './schema-builders.ts';

const core = { group: '', version: 'v1' } as const;

const podSchema = kind('A collection of containers that run on one node.', {
  spec: POD_SPEC,
  status: open('What was last observed of it.', {
    phase: text('Pending, Running, Succeeded, Failed or Unknown.'),
    conditions: keyed('Its conditions.', open('One condition.'), { keys: ['type'] }),
  }),
});

const serviceSchema = kind('A name and an address for a set of pods.', {
  spec: open('What the service is to be.', {
    selector: { ...textMap('Labels of its pods.'), 'x-kubernetes-map-type': 'atomic' },
    type: text('ClusterIP, NodePort, LoadBalancer or ExternalName.', { default: 'ClusterIP' }),
    sessionAffinity: text('ClientIP or None.', { default: 'None' }),
    ports: keyed(
      'Ports that it exposes.',
      open('One port.', {
        name: text('Its name.'),
        port: integer('Its number.'),
        protocol: text('TCP, UDP or SCTP.', { default: 'TCP' }),
        targetPort: integerOrText('Number or name of the port of the pods.'),
      }),
      { keys: ['port', 'protocol'] },
    ),
  }),
  status: open('What was last observed of it.', {}),
});

/** The core group, in the order of discovery. */
export const CORE: readonly BuiltIn[] = [
  builtIn({
    ...core,
    resource: 'configmaps',
    kind: 'ConfigMap',
    isNamespaced: true,
    shortNames: ['cm'],
    schema: openKind('Configuration data for pods.', {
      data: textMap('Text by key.'),
      binaryData: textMap('Bytes by key, as base64.'),
    }),
  }),
  builtIn({
    ...core,
    resource: 'events',
    kind: 'Event',
    isNamespaced: true,
    shortNames: ['ev'],
    createsOnUpdate: true,
  }),
  builtIn({
    ...core,
    resource: 'namespaces',
    kind: 'Namespace',
    isNamespaced: false,
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
    shortNames: ['ns'],
    hasStatus: true,
    initialStatus: { phase: 'Active' },
    returnsDeleted: true,
    complete: (namespace) => ({
      ...namespace,
      metadata: {
        ...namespace.metadata,
        labels: { ...namespace.metadata.labels, 'kubernetes.io/metadata.name': namespace.metadata.name },
      },
      spec: namespace.spec ?? { finalizers: ['kubernetes'] },
    }),
  }),
  builtIn({
    ...core,
    resource: 'nodes',
    kind: 'Node',
    isNamespaced: false,
    shortNames: ['no'],
    hasStatus: true,
    takesInitialStatus: true,
  }),
  builtIn({
    ...core,
    resource: 'pods',
    kind: 'Pod',
    isNamespaced: true,
    shortNames: ['po'],
    categories: ['all'],
    hasStatus: true,
    hasGeneration: true,
    initialStatus: { phase: 'Pending', qosClass: 'BestEffort' },
    returnsDeleted: true,
    schema: podSchema,
  }),
  builtIn({
    ...core,
    resource: 'secrets',
    kind: 'Secret',
    isNamespaced: true,
    schema: openKind('Secret data for pods.', {
      data: textMap('Bytes by key, as base64.'),
      stringData: textMap('Text by key, when it is written.'),
    }),
    complete: ({ stringData, ...secret }) => ({
      type: 'Opaque',
      ...secret,
      ...(stringData === undefined
        ? {}
        : { data: { ...(secret.data as object | undefined), ...inBase64(stringData) } }),
    }),
  }),
  builtIn({
    ...core,
    resource: 'serviceaccounts',
    kind: 'ServiceAccount',
    isNamespaced: true,
    shortNames: ['sa'],
    returnsDeleted: true,
  }),
  builtIn({
    ...core,
    resource: 'services',
    kind: 'Service',
    isNamespaced: true,
    shortNames: ['svc'],
    categories: ['all'],
    hasStatus: true,
    returnsDeleted: true,
    initialStatus: { loadBalancer: {} },
    schema: serviceSchema,
  }),
];

function inBase64(texts: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries((texts ?? {}) as Readonly<Record<string, unknown>>);
  return Object.fromEntries(
    entries.map(([key, value]) => [key, Buffer.from(String(value)).toString('base64')]),
  );
}
