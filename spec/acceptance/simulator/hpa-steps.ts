import type { RequestStep } from './request-step.ts';
import { HPAS } from './step-bodies.ts';

/** In the served version: v2 since Kubernetes 1.23, v2beta2 before. */
const V2 = HPAS.replace('/v1/', '/{{hpaVersion}}/');
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

/** An HPA for which v1 stores most fields in annotations. */
export const HPA_VERSIONS: readonly RequestStep[] = [
  {
    name: 'create an HPA with metrics of all kinds',
    method: 'POST',
    path: V2,
    body: {
      ...{
        apiVersion: 'autoscaling/{{hpaVersion}}',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'm' },
      },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        maxReplicas: 3,
        metrics: METRICS,
        behavior: { scaleUp: { policies: [{ type: 'Pods', value: 2, periodSeconds: 9 }] } },
      },
    },
  },
  { name: 'get the HPA in the oldest version', method: 'GET', path: `${HPAS}/m` },
  {
    name: 'create an HPA with quantities in other forms',
    method: 'POST',
    path: V2,
    body: quantitiesHpa('q', [
      1,
      '1000m',
      '1.5Gi',
      '0.1n',
      1500,
      '0.5Ki',
      '1025Ki',
      '+.5',
      '1e3',
      '12e6',
      '1500e-3',
    ]),
  },
  { name: 'get the quantities in the oldest version', method: 'GET', path: `${HPAS}/q` },
  {
    name: 'replace quantities by numbers',
    method: 'PATCH',
    patch: 'merge',
    path: `${V2}/q`,
    body: { spec: { metrics: quantitiesHpa('q', [0.25, 2, 1e6]).spec.metrics } },
  },
  { name: 'get the numbers in the oldest version', method: 'GET', path: `${HPAS}/q` },
  {
    name: 'create an HPA with an invalid quantity',
    method: 'POST',
    path: V2,
    body: quantitiesHpa('r', ['many']),
  },
];

function quantitiesHpa(name: string, amounts: readonly unknown[]) {
  return {
    ...{ apiVersion: 'autoscaling/{{hpaVersion}}', kind: 'HorizontalPodAutoscaler', metadata: { name } },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      maxReplicas: 3,
      metrics: amounts.map((averageValue, index) => {
        const target = { type: 'AverageValue', averageValue };
        return { type: 'External', external: { metric: { name: `e${index}` }, target } };
      }),
    },
  };
}
