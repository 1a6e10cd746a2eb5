import { fieldAt, type KubernetesObject } from '../../objects/kubernetes-object.ts';
import { type BuiltIn, builtIn, CONDITIONS, keyed, open, openKind, TEXT_MAP, text } from './kind-builders.ts';
import { POD_SPEC, withRequestsOfLimits } from './pod-template.ts';

const core = { group: '', version: 'v1' } as const;

const podSchema = openKind({ spec: POD_SPEC, status: open({ conditions: CONDITIONS }) });

const serviceSchema = openKind({
  spec: open({
    selector: { ...TEXT_MAP, 'x-kubernetes-map-type': 'atomic' },
    type: text({ default: 'ClusterIP' }),
    sessionAffinity: text({ default: 'None' }),
    ports: keyed(open({ protocol: text({ default: 'TCP' }) }), 'port', 'protocol'),
  }),
});

/** The core group, in the order of discovery. */
export const CORE: readonly BuiltIn[] = [
  builtIn({
    ...core,
    resource: 'configmaps',
    kind: 'ConfigMap',
    isNamespaced: true,
    shortNames: ['cm'],
    schema: openKind({ data: TEXT_MAP, binaryData: TEXT_MAP }),
  }),
  builtIn({
    ...core,
    resource: 'events',
    kind: 'Event',
    isNamespaced: true,
    shortNames: ['ev'],
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
    returnsDeletedObject: true,
    applyDefaults: (namespace) => ({
      ...namespace,
      metadata: {
        ...namespace.metadata,
        labels: { ...namespace.metadata.labels, 'kubernetes.io/metadata.name': namespace.metadata.name },
      },
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
    returnsDeletedObject: true,
    schema: podSchema,
    applyDefaults: (pod) => ({
      ...pod,
      spec: withRequestsOfLimits(pod.spec as Readonly<Record<string, unknown>>),
    }),
  }),
  builtIn({
    ...core,
    resource: 'secrets',
    kind: 'Secret',
    isNamespaced: true,
    schema: openKind({ data: TEXT_MAP, stringData: TEXT_MAP }),
    applyDefaults: ({ stringData, ...secret }) => ({
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
    returnsDeletedObject: true,
  }),
  builtIn({
    ...core,
    resource: 'services',
    kind: 'Service',
    isNamespaced: true,
    shortNames: ['svc'],
    categories: ['all'],
    hasStatus: true,
    returnsDeletedObject: true,
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

/** Converts an Event of the core group to events.k8s.io. */
export function eventFromCore(stored: KubernetesObject): KubernetesObject {
  const {
    involvedObject,
    message,
    source,
    firstTimestamp,
    lastTimestamp,
    count,
    reportingComponent,
    ...rest
  } = stored;
  return {
    ...rest,
    apiVersion: 'events.k8s.io/v1',
    ...(stored.eventTime === undefined ? { eventTime: null } : {}),
    ...(reportingComponent === undefined ? {} : { reportingController: reportingComponent }),
    ...(involvedObject === undefined ? {} : { regarding: involvedObject }),
    ...(message === undefined ? {} : { note: message }),
    deprecatedSource: source ?? {},
    ...(firstTimestamp == null ? {} : { deprecatedFirstTimestamp: firstTimestamp }),
    ...(lastTimestamp == null ? {} : { deprecatedLastTimestamp: lastTimestamp }),
    ...(count === undefined ? {} : { deprecatedCount: count }),
  };
}

export function eventToCore(written: KubernetesObject): KubernetesObject {
  const {
    regarding,
    note,
    reportingController,
    deprecatedSource,
    deprecatedFirstTimestamp,
    deprecatedLastTimestamp,
    deprecatedCount,
    ...rest
  } = written;
  const namespace = fieldAt(written, 'metadata', 'namespace');
  return {
    ...rest,
    apiVersion: 'v1',
    involvedObject: regarding ?? { namespace },
    ...(note === undefined ? {} : { message: note }),
    source: deprecatedSource ?? {},
    firstTimestamp: deprecatedFirstTimestamp ?? null,
    lastTimestamp: deprecatedLastTimestamp ?? null,
    ...(deprecatedCount === undefined ? {} : { count: deprecatedCount }),
    reportingComponent: reportingController ?? '',
    reportingInstance: written.reportingInstance ?? '',
  };
}
