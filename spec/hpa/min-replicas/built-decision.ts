import type { Explanation } from '#lib/hpa/decision/decision.ts';
import { type Hpa, readHpa } from '#lib/kubernetes/objects/hpa-versions.ts';

/** An HPA with a target of half of its pods' CPU requests. */
export function webHpa({
  annotations = {},
  minReplicas,
}: {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly minReplicas: number;
}): Hpa {
  const metadata = { name: 'web', namespace: 'default', uid: 'u', annotations };
  const target = { type: 'Utilization', averageUtilization: 50 };
  const spec = {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
    ...{ minReplicas, maxReplicas: 100, metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }] },
  };
  return readHpa({ metadata, spec }, 'v2');
}

/** A decision on the minimum. @param ratio of its only metric to the target; `undefined` if that could not be read */
export function explainedAt(
  ratio: number | undefined,
  { minReplicas }: { readonly minReplicas: number },
): Explanation {
  const metric = { type: 'Resource', name: 'cpu', target: undefined, current: undefined };
  return {
    ...{ atMs: 0, minReplicas, maxReplicas: 100, currentReplicas: minReplicas, desiredReplicas: minReplicas },
    step: ratio === undefined ? 'metrics-missing' : 'metrics',
    metrics: [
      ratio === undefined
        ? { ...metric, failure: { reason: '', message: '', error: '', isRefusal: false } }
        : {
            ...metric,
            proposal: {
              ...{ replicas: minReplicas, ratio, why: 'off-target' },
              tolerances: { scaleUp: 0.1, scaleDown: 0.1 },
            },
          },
    ],
  };
}
