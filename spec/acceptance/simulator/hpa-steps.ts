import type { RequestStep } from './request-step.ts';
import { HPAS } from './step-bodies.ts';

const V2 = HPAS.replace('/v1/', '/v2beta2/');
const selector = { matchLabels: { a: 'b' } };
const service = { kind: 'Service', name: 's', apiVersion: 'v1' };
const average = { type: 'AverageValue', averageValue: '3' };
const value = { type: 'Value', value: '4' };

const METRICS = [
  { type: 'Resource', resource: { name: 'memory', target: { type: 'Utilization', averageUtilization: 60 } } },
  { type: 'Resource', resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: '100m' } } },
  { type: 'Pods', pods: { metric: { name: 'p', selector }, target: average } },
  { type: 'Object', object: { metric: { name: 'o', selector }, describedObject: service, target: value } },
  { type: 'Object', object: { metric: { name: 'o2' }, describedObject: service, target: average } },
  { type: 'External', external: { metric: { name: 'e', selector }, target: value } },
  { type: 'External', external: { metric: { name: 'e2' }, target: average } },
];

const CURRENT = [
  { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 12, averageValue: '7m' } } },
  { type: 'Pods', pods: { metric: { name: 'p', selector }, current: { averageValue: '3' } } },
  { type: 'Object', object: { metric: { name: 'o' }, describedObject: service, current: { value: '4' } } },
  {
    type: 'Object',
    object: { metric: { name: 'o2' }, describedObject: service, current: { averageValue: '4' } },
  },
  { type: 'External', external: { metric: { name: 'e', selector }, current: { value: '5' } } },
  { type: 'External', external: { metric: { name: 'e2' }, current: { averageValue: '5' } } },
  { type: '' },
];

const CONDITION = { type: 'AbleToScale', status: 'True', reason: 'ReadyForNewScale', message: 'so' };

/** An HPA of which the oldest version has annotations for nearly everything. */
export const HPA_VERSIONS: readonly RequestStep[] = [
  {
    name: 'create an HPA by metrics of all kinds',
    method: 'POST',
    path: V2,
    body: {
      ...{ apiVersion: 'autoscaling/v2beta2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'm' } },
      spec: {
        scaleTargetRef: { kind: 'Deployment', name: 'web' },
        maxReplicas: 3,
        metrics: METRICS,
        behavior: { scaleUp: { policies: [{ type: 'Pods', value: 2, periodSeconds: 9 }] } },
      },
    },
    keep: { HPA: ['metadata', 'resourceVersion'] },
  },
  { name: 'get it in the oldest version', method: 'GET', path: `${HPAS}/m` },
  {
    name: 'update its status',
    method: 'PUT',
    path: `${V2}/m/status`,
    body: {
      ...{ apiVersion: 'autoscaling/v2beta2', kind: 'HorizontalPodAutoscaler' },
      metadata: { name: 'm', resourceVersion: '{{HPA}}' },
      spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 3 },
      status: { currentReplicas: 1, desiredReplicas: 2, currentMetrics: CURRENT, conditions: [CONDITION] },
    },
  },
  { name: 'get its status in the oldest version', method: 'GET', path: `${HPAS}/m` },
];
