import type { ApiContext } from '#lib/doctor/cluster-context.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { ExaminedMetric, MetricsGroup } from './examined-metrics.ts';

/** The versions of the metrics APIs, the one first that HPA controllers prefer. */
export const METRICS_VERSIONS: Readonly<Record<MetricsGroup, readonly string[]>> = {
  'custom.metrics.k8s.io': ['v1beta2', 'v1beta1'],
  'external.metrics.k8s.io': ['v1beta1'],
};

/** A version of a metrics API that responds through the API server. */
export interface RespondingVersion {
  readonly version: string;
  /** The metrics that it tells of. */
  readonly names: ReadonlySet<string>;
}

/** The version that responds, with the metrics that its discovery tells; `undefined` where none does. */
export async function respondingVersion(
  context: ApiContext,
  group: MetricsGroup,
): Promise<RespondingVersion | undefined> {
  for (const version of METRICS_VERSIONS[group]) {
    try {
      const list = await context.get(`/apis/${group}/${version}`, `get ${group}`);
      const resources = propertyOf(list, 'resources');
      const names = Array.isArray(resources) ? resources.map((one) => String(propertyOf(one, 'name'))) : [];
      return { version, names: new Set(names) };
    } catch (error) {
      context.signal.throwIfAborted();
      if (!(error instanceof ApiError)) throw error;
    }
  }
  return undefined;
}

/** Whether discovery tells of a metric: as `NAME`, or as `RESOURCE/NAME`. */
export function isDiscovered({ planned, group }: ExaminedMetric, names: ReadonlySet<string>): boolean {
  const { name } = planned.metric;
  if (group === 'external.metrics.k8s.io') return names.has(name);
  return names.values().some((one) => one.endsWith(`/${name}`));
}
