import { type Check, note, ok } from '#lib/doctor/check.ts';
import type { ClusterContext } from '#lib/doctor/cluster-context.ts';
import { ApiError, isNotFound } from '#lib/kubernetes/client/api-error.ts';
import type { MetricSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { messageOf } from '#lib/telemetry/error-text.ts';
import { CUSTOM_METRICS_VERSIONS } from '../inputs/metric-values-client.ts';
import { type ExaminedHpas, failed } from './examination.ts';

/** The API of each metric type. */
const GROUPS: Readonly<Record<MetricSpec['type'], string>> = {
  Resource: 'metrics.k8s.io',
  ContainerResource: 'metrics.k8s.io',
  Pods: 'custom.metrics.k8s.io',
  Object: 'custom.metrics.k8s.io',
  External: 'external.metrics.k8s.io',
};

/** Checks that the metrics APIs that HPAs need respond. */
export function metricsApis(examined: ExaminedHpas): Check {
  return {
    name: 'hpa-metrics-apis',
    title: 'Metrics APIs that HorizontalPodAutoscalers need',

    async run(context) {
      const hpas = await examined.all(context);
      const needed = new Set(
        hpas.flatMap(({ spec }) => (spec.metrics ?? []).flatMap(({ type }) => GROUPS[type] ?? [])),
      );
      if (needed.size === 0) return [note('metrics APIs', 'no HPA needs one')];
      return await Promise.all(
        [...needed].sort().map(async (group) => {
          try {
            await request(group, context);
            return ok(group, 'responds');
          } catch (error) {
            context.signal.throwIfAborted();
            if (error instanceof ApiError && error.statusCode === 403)
              return note(group, 'this account has no permission to request this API');
            const seen = messageOf(error);
            return failed(group, seen, { diagnosis: 'hpa-metrics-api-silent', GROUP: group });
          }
        }),
      );
    },
  };
}

/** Requests the supported versions until one is served. @throws the error of the last one */
async function request(group: string, { client, signal }: ClusterContext): Promise<void> {
  const versions = group === GROUPS.Pods ? CUSTOM_METRICS_VERSIONS : ['v1beta1'];
  for (const [index, version] of versions.entries()) {
    try {
      await client.getJson(`/apis/${group}/${version}`, { signal });
      return;
    } catch (error) {
      if (!isNotFound(error) || index === versions.length - 1) throw error;
    }
  }
}
