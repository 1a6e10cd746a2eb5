import type { MessageField, MessageSchema } from './protobuf-message.ts';

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

/** What kubectl makes of its arguments alone, and so sends as protobuf: the kinds' fields by number. */
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
