/** A Deployment whose pods do not run. */
export function deployment(name: string, replicas: number): object {
  const labels = { app: name };
  const containers = [{ name: 'app', image: 'registry.example/app:v1' }];
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  };
}

/** An HPA for the Deployment of the same name. */
export function horizontalPodAutoscaler(name: string, minReplicas: number, maxReplicas: number): object {
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name };
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name, namespace: 'default' },
    spec: { scaleTargetRef, minReplicas, maxReplicas, targetCPUUtilizationPercentage: 50 },
  };
}

/** A CronHorizontalPodAutoscaler for the Deployment of the same name, with one job per size. */
export function cronHpa(name: string, jobs: readonly { readonly size: number; readonly atMs: number }[]) {
  return {
    apiVersion: 'autoscaling.stke.com/v1beta1',
    kind: 'CronHorizontalPodAutoscaler',
    metadata: { name, namespace: 'default' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      jobs: jobs.map(({ size, atMs }) => ({
        name: `to-${size}`,
        schedule: scheduleAt(atMs),
        targetSize: size,
        runOnce: true,
      })),
    },
  };
}

/** A schedule for one second of the year, in UTC. */
export function scheduleAt(atMs: number): string {
  const at = new Date(atMs);
  const day = [at.getUTCDate(), at.getUTCMonth() + 1, '*'];
  return [at.getUTCSeconds(), at.getUTCMinutes(), at.getUTCHours(), ...day].join(' ');
}
