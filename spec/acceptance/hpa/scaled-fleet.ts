import { TARGETS } from './scripted-metrics.ts';

/** Number of HPAs with the same sequence of loads. */
export const FLEET_SIZE = 30;

/** Load of each app in replicas, step by step. The stable state does not depend on earlier steps. */
export const STEPS: readonly ((place: number) => number)[] = [
  (place) => 2 + (place % 4),
  (place) => 6 + (place % 3),
  (place) => 1 + (place % 5),
  () => 0,
];

/** App names, used for Deployments, HPAs and metrics. */
export const APPS: readonly string[] = Array.from({ length: FLEET_SIZE }, (_, place) => `app-${place}`);

/** A Deployment with two replicas, each of which requests twice its target CPU usage. */
export function fleetDeployment(name: string, namespace: string): object {
  const labels = { app: name };
  const resources = { requests: { cpu: `${2 * TARGETS.cpuMillicores}m`, memory: '128Mi' } };
  const containers = [{ name: 'app', image: 'registry.example/app:v1', resources }];
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace } },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}

/** Index of an HPA in the fleet, and the HPA version that the API server serves. */
export interface FleetMember {
  readonly index: number;
  readonly apiVersion: string;
}

/** The HPA of an app. The fleet covers each kind of metric, with and without behavior, within several bounds. */
export function fleetHpa(name: string, namespace: string, { index, apiVersion }: FleetMember): object {
  return hpaOf(name, namespace, {
    apiVersion,
    minReplicas: index % 7 === 3 ? 2 : 1,
    maxReplicas: index % 5 === 4 ? 5 : 10,
    metrics: [metricOf(name, index % 6)],
    ...(index % 4 === 1 && { behavior: BEHAVIOR }),
  });
}

export function hpaOf(
  name: string,
  namespace: string,
  {
    apiVersion,
    annotations = {},
    ...spec
  }: Readonly<Record<string, unknown>> & { readonly apiVersion: string; readonly annotations?: object },
): object {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name };
  return {
    ...{ apiVersion, kind: 'HorizontalPodAutoscaler' },
    metadata: { name, namespace, annotations },
    spec: { scaleTargetRef, ...spec },
  };
}

/** External metric with the total of an app, not divided among its pods. */
export function totalOf(name: string): object {
  const target = { type: 'AverageValue', averageValue: `${TARGETS.items}` };
  return { type: 'External', external: { metric: { name: `${name}-total` }, target } };
}

const BEHAVIOR = {
  scaleUp: { policies: [{ type: 'Pods', value: 2, periodSeconds: 3 }] },
  scaleDown: {
    stabilizationWindowSeconds: 3,
    policies: [{ type: 'Percent', value: 50, periodSeconds: 3 }],
  },
};

function metricOf(name: string, kind: number): object {
  const value = { type: 'Value', value: `${TARGETS.items}` };
  const average = { type: 'AverageValue', averageValue: `${TARGETS.items}` };
  const metric = { name: 'items' };
  switch (kind) {
    case 0:
      return {
        type: 'Resource',
        resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
      };
    case 1: {
      const target = { type: 'AverageValue', averageValue: `${TARGETS.memoryKibibytes}Ki` };
      return { type: 'Resource', resource: { name: 'memory', target } };
    }
    case 2:
      return totalOf(name);
    case 3:
      return { type: 'External', external: { metric: { name: `${name}-share` }, target: value } };
    case 4:
      return { type: 'Pods', pods: { metric, target: average } };
    default: {
      const describedObject = { apiVersion: 'v1', kind: 'Service', name };
      return { type: 'Object', object: { metric, describedObject, target: value } };
    }
  }
}
