import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** A message of Kubernetes' API: its fields by their numbers. */
type Message = Readonly<Record<number, Field>>;

interface Field {
  readonly name: string;
  readonly type: 'text' | 'bytes' | 'integer' | 'quantity' | 'ignored' | Message;
  readonly shape?: 'list' | 'map';
}

const field = (name: string, type: Field['type'] = 'text', shape?: Field['shape']): Field => ({
  ...{ name, type },
  ...(shape && { shape }),
});
/** Fields of text, in the order of their numbers from 1 on. */
const texts = (...names: readonly string[]): Message =>
  Object.fromEntries(names.map((name, index) => [index + 1, field(name)]));

const IGNORED = field('', 'ignored');
const METADATA: Message = {
  ...texts('name', 'generateName', 'namespace'),
  8: IGNORED, // creationTimestamp, empty in a new object
  11: field('labels', 'text', 'map'),
  12: field('annotations', 'text', 'map'),
};
const SELECTOR: Message = { 1: field('matchLabels', 'text', 'map') };
const RESOURCES: Message = { 1: field('limits', 'quantity', 'map'), 2: field('requests', 'quantity', 'map') };
const CONTAINER: Message = {
  ...texts('name', 'image'),
  3: field('command', 'text', 'list'),
  4: field('args', 'text', 'list'),
  6: field('ports', { 1: field('name'), 3: field('containerPort', 'integer'), 4: field('protocol') }, 'list'),
  8: field('resources', RESOURCES),
  14: field('imagePullPolicy'),
};
const POD_TEMPLATE: Message = {
  1: field('metadata', METADATA),
  2: field('spec', { 2: field('containers', CONTAINER, 'list'), 3: field('restartPolicy') }),
};
const DEPLOYMENT: Message = {
  1: field('replicas', 'integer'),
  2: field('selector', SELECTOR),
  3: field('template', POD_TEMPLATE),
  4: field('strategy', { 1: field('type') }),
};
const SCALE_TARGET = texts('kind', 'name', 'apiVersion');
const TARGET: Message = {
  1: field('type'),
  3: field('averageValue', 'quantity'),
  4: field('averageUtilization', 'integer'),
};
const METRIC: Message = {
  1: field('type'),
  4: field('resource', { 1: field('name'), 2: field('target', TARGET) }),
};
const HPA: Message = {
  1: field('scaleTargetRef', SCALE_TARGET),
  2: field('minReplicas', 'integer'),
  3: field('maxReplicas', 'integer'),
};
const RULE: Message = Object.fromEntries(
  ['verbs', 'apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'].map((name, index) => [
    index + 1,
    field(name, 'text', 'list'),
  ]),
);
const BINDING: Message = {
  1: field('metadata', METADATA),
  2: field('subjects', texts('kind', 'apiGroup', 'name', 'namespace'), 'list'),
  3: field('roleRef', texts('apiGroup', 'kind', 'name')),
};
const ROLE: Message = { 1: field('metadata', METADATA), 2: field('rules', RULE, 'list') };
const ACCESS: Message = {
  1: field(
    'resourceAttributes',
    texts('namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'),
  ),
  2: field('nonResourceAttributes', texts('path', 'verb')),
};

const object = (spec?: Message): Message => ({
  1: field('metadata', METADATA),
  ...(spec && { 2: field('spec', spec) }),
  3: IGNORED, // the status, without values in a new object
});

/** What kubectl creates from arguments. */
const MESSAGES: ReadonlyMap<string, Message> = new Map([
  ['v1 Namespace', object({})],
  ['v1 ServiceAccount', object()],
  ['v1 ConfigMap', { 1: field('metadata', METADATA), 2: field('data', 'text', 'map') }],
  ['v1 Secret', { 1: field('metadata', METADATA), 2: field('data', 'bytes', 'map'), 3: field('type') }],
  ['apps/v1 Deployment', object(DEPLOYMENT)],
  [
    'autoscaling/v1 HorizontalPodAutoscaler',
    object({ ...HPA, 4: field('targetCPUUtilizationPercentage', 'integer') }),
  ],
  ['autoscaling/v2 HorizontalPodAutoscaler', object({ ...HPA, 4: field('metrics', METRIC, 'list') })],
  ['rbac.authorization.k8s.io/v1 ClusterRole', ROLE],
  ['rbac.authorization.k8s.io/v1 Role', ROLE],
  ['rbac.authorization.k8s.io/v1 ClusterRoleBinding', BINDING],
  ['rbac.authorization.k8s.io/v1 RoleBinding', BINDING],
  ['authorization.k8s.io/v1 SelfSubjectAccessReview', object(ACCESS)],
  ['authentication.k8s.io/v1 SelfSubjectReview', { 1: field('metadata', METADATA), 2: IGNORED }],
]);

const MAGIC = Buffer.from('k8s\0');
const ENVELOPE: Message = { 1: field('typeMeta', texts('apiVersion', 'kind')), 2: field('raw', 'bytes') };

/**
 * Reads an object that kubectl sends as protobuf, with the fields that its commands set.
 *
 * @returns `undefined` for another kind, another field, or a malformed body
 */
export function readProtobuf(body: Buffer): unknown {
  if (!body.subarray(0, MAGIC.length).equals(MAGIC)) return undefined;
  try {
    const { typeMeta, raw } = readMessage(body.subarray(MAGIC.length), ENVELOPE) as {
      readonly typeMeta: { readonly apiVersion: string; readonly kind: string };
      readonly raw: string;
    };
    const message = MESSAGES.get(`${typeMeta.apiVersion} ${typeMeta.kind}`);
    return message && { ...typeMeta, ...readMessage(Buffer.from(raw, 'base64'), message) };
  } catch {
    return undefined;
  }
}

function readMessage(bytes: Buffer, message: Message): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const { number, value } of fieldsOf(bytes)) {
    const definition = message[number];
    const isZero = typeof value === 'number' ? value === 0 : value.length === 0;
    if (definition === undefined) {
      if (isZero) continue; // Go sends fields without a value, too
      throw new Error(`unknown field ${number}`);
    }
    const { name, type, shape } = definition;
    if (type === 'ignored' || (type === 'text' && isZero && shape === undefined)) continue;
    if (shape === 'map') {
      const entry = readMessage(value as Buffer, { 1: field('key'), 2: field('value', type) });
      result[name] = {
        ...(result[name] as object | undefined),
        [String(entry.key ?? '')]: entry.value ?? '',
      };
    } else if (shape === 'list')
      result[name] = [...((result[name] as unknown[]) ?? []), readValue(value, type)];
    else result[name] = readValue(value, type);
  }
  return result;
}

function readValue(value: Buffer | number, type: Field['type']): unknown {
  if (type === 'integer') return Number(value);
  if (typeof value === 'number') throw new Error('a number instead of a message');
  if (type === 'text') return value.toString();
  if (type === 'bytes') return value.toString('base64');
  if (type === 'quantity') return readMessage(value, texts('text')).text ?? '0';
  return readMessage(value, type as Message);
}

/** The fields of a message: numbers, and everything else as bytes. */
function* fieldsOf(bytes: Buffer): Generator<{ readonly number: number; readonly value: Buffer | number }> {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    if (wire === WireType.Varint) yield { number, value: Number(reader.int64()) };
    else if (wire === WireType.LengthDelimited) yield { number, value: Buffer.from(reader.bytes()) };
    else throw new Error(`unknown wire type ${wire}`);
  }
}
