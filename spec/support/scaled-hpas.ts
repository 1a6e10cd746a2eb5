import { type Hpa, readHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import type { NewObject } from '#simulator/objects/kubernetes-object.ts';

/** Fields of an HPA that a spec sets. */
export interface HpaInput {
  readonly name?: string;
  readonly namespace?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly metrics: readonly object[];
}

/** A HorizontalPodAutoscaler of version v2, in the form that users apply. */
export function hpaObject({
  name = 'web',
  namespace = 'default',
  annotations = {},
  metrics,
}: HpaInput): NewObject {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name, namespace, annotations },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      minReplicas: 1,
      maxReplicas: 10,
      metrics: [...metrics],
    },
  } as NewObject;
}

/** The same HPA, decoded as informers do. */
export function readHpaObject(input: HpaInput): Hpa {
  return readHpa(hpaObject(input), 'v2');
}

export function externalMetric(name: string, matchLabels?: Readonly<Record<string, string>>): object {
  return {
    type: 'External',
    external: {
      metric: { name, ...(matchLabels && { selector: { matchLabels } }) },
      target: { type: 'AverageValue', averageValue: '10' },
    },
  };
}

export function objectMetric(name: string, describedObject: object): object {
  return {
    type: 'Object',
    object: { metric: { name }, describedObject, target: { type: 'Value', value: '10' } },
  };
}

export function podsMetric(name: string): object {
  return { type: 'Pods', pods: { metric: { name }, target: { type: 'AverageValue', averageValue: '10' } } };
}
