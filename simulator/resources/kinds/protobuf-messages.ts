import { decodeMessage, type MessageField, type MessageSchema, readEnvelope } from '../protobuf.ts';

const text = (name: string): MessageField => ({ name, type: 'string' });
const texts = (name: string): MessageField => ({ name, type: 'string', isRepeated: true });
const integer = (name: string): MessageField => ({ name, type: 'integer' });
const optional = (name: string): MessageField => ({ name, type: 'integer', isOptional: true });
const map = (name: string): MessageField => ({ name, type: 'map' });
const ignored = (name: string): MessageField => ({ name, type: 'ignored' });
const one = (name: string, type: MessageSchema): MessageField => ({ name, type });
const many = (name: string, type: MessageSchema): MessageField => ({ name, type, isRepeated: true });

const META: MessageSchema = {
  1: text('name'),
  2: text('generateName'),
  3: text('namespace'),
  5: text('uid'),
  6: text('resourceVersion'),
  8: ignored('creationTimestamp'),
  11: map('labels'),
  12: map('annotations'),
  14: texts('finalizers'),
};

const SELECTOR: MessageSchema = {
  1: map('matchLabels'),
  2: many('matchExpressions', { 1: text('key'), 2: text('operator'), 3: texts('values') }),
};

const CONTAINER: MessageSchema = {
  1: text('name'),
  2: text('image'),
  3: texts('command'),
  4: texts('args'),
  6: many('ports', {
    1: text('name'),
    2: integer('hostPort'),
    3: integer('containerPort'),
    4: text('protocol'),
  }),
  7: many('env', { 1: text('name'), 2: text('value') }),
  8: one('resources', {
    1: { name: 'limits', type: 'quantities' },
    2: { name: 'requests', type: 'quantities' },
  }),
  13: text('terminationMessagePath'),
  14: text('imagePullPolicy'),
};

const POD_SPEC: MessageSchema = {
  2: many('containers', CONTAINER),
  3: text('restartPolicy'),
  4: optional('terminationGracePeriodSeconds'),
  6: text('dnsPolicy'),
  7: map('nodeSelector'),
  8: text('serviceAccountName'),
  10: text('nodeName'),
  14: one('securityContext', {}),
  19: text('schedulerName'),
};

const DEPLOYMENT_SPEC: MessageSchema = {
  1: optional('replicas'),
  2: one('selector', SELECTOR),
  3: one('template', { 1: one('metadata', META), 2: one('spec', POD_SPEC) }),
  4: one('strategy', { 1: text('type') }),
  5: integer('minReadySeconds'),
  6: optional('revisionHistoryLimit'),
  9: optional('progressDeadlineSeconds'),
};

const TARGET: MessageSchema = { 1: text('kind'), 2: text('name'), 3: text('apiVersion') };

const METRIC_TARGET: MessageSchema = {
  1: text('type'),
  2: { name: 'value', type: 'quantity' },
  3: { name: 'averageValue', type: 'quantity' },
  4: optional('averageUtilization'),
};

const AUTOSCALER_SPECS: Readonly<Record<string, MessageSchema>> = {
  'autoscaling/v1': {
    1: one('scaleTargetRef', TARGET),
    2: optional('minReplicas'),
    3: integer('maxReplicas'),
    4: optional('targetCPUUtilizationPercentage'),
  },
  'autoscaling/v2': {
    1: one('scaleTargetRef', TARGET),
    2: optional('minReplicas'),
    3: integer('maxReplicas'),
    4: many('metrics', {
      1: text('type'),
      4: one('resource', { 1: text('name'), 2: one('target', METRIC_TARGET) }),
    }),
  },
};

/** The messages of kinds that kubectl creates from its arguments and sends as protobuf: fields by number. */
export function messageOf(apiVersion: string, kind: string): MessageSchema | undefined {
  const object = (fields: MessageSchema): MessageSchema => ({ 1: one('metadata', META), ...fields });
  switch (`${apiVersion} ${kind}`) {
    case 'v1 Namespace':
      return object({ 2: ignored('spec'), 3: ignored('status') });
    case 'v1 ConfigMap':
      return object({ 2: map('data') });
    case 'v1 ServiceAccount':
      return object({});
    case 'apps/v1 Deployment':
      return object({ 2: one('spec', DEPLOYMENT_SPEC), 3: ignored('status') });
    default: {
      const spec = kind === 'HorizontalPodAutoscaler' ? AUTOSCALER_SPECS[apiVersion] : undefined;
      return spec && object({ 2: one('spec', spec), 3: ignored('status') });
    }
  }
}

/**
 * Decodes a review from Kubernetes' protobuf, which Go clients send by default since 1.32.
 *
 * @throws Error for another kind
 */
export function decodeReview(body: Uint8Array): unknown {
  const { kind, raw } = readEnvelope(body);
  const schema = REVIEWS[kind];
  if (!schema) throw new Error(`no kind "${kind}" has a protobuf message`);
  return decodeMessage(raw, schema, { skipsUnknown: true });
}

const RESOURCE_ATTRIBUTES: MessageSchema = Object.fromEntries(
  ['namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'].map((name, index) => [
    index + 1,
    { name, type: 'string' },
  ]),
);

const ATTRIBUTES: MessageSchema = {
  1: { name: 'resourceAttributes', type: RESOURCE_ATTRIBUTES },
  2: {
    name: 'nonResourceAttributes',
    type: { 1: { name: 'path', type: 'string' }, 2: { name: 'verb', type: 'string' } },
  },
};

const REVIEWS: Readonly<Record<string, MessageSchema>> = {
  TokenReview: { 2: { name: 'spec', type: { 1: { name: 'token', type: 'string' } } } },
  SelfSubjectReview: {},
  SelfSubjectAccessReview: { 2: { name: 'spec', type: ATTRIBUTES } },
  SubjectAccessReview: {
    2: {
      name: 'spec',
      type: {
        ...ATTRIBUTES,
        3: { name: 'user', type: 'string' },
        4: { name: 'groups', type: 'string', isRepeated: true },
        6: { name: 'uid', type: 'string' },
      },
    },
  },
};
