import type { MetricReading, PodUsage } from '#lib/hpa/decision/decision-input.ts';
import type { MetricSpec } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import { SelectorError } from '#lib/kubernetes/selectors/label-selector.ts';
import { metricSelector } from '#lib/kubernetes/selectors/selector-object.ts';
import type { RecordedMetrics, RecordedUsage } from './recorded-case.ts';

interface ReadingOptions {
  readonly isSelected: (pod: string) => boolean;
  readonly momentOf: (ageSeconds: number) => number;
}

/** The metrics APIs' recorded response for one metric of the HPA; an invalid selector sends no request. */
export function recordedReading(
  metric: MetricSpec,
  metrics: RecordedMetrics,
  options: ReadingOptions,
): MetricReading {
  try {
    requireSelector(metric);
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    return { error: error.message };
  }
  const { errors = {} } = metrics;
  const failed = (requested: string) => {
    const error = errors[requested];
    return error === undefined ? undefined : { error };
  };
  switch (metric.type) {
    case 'Resource':
      return failed(`resource/${metric.resource.name}`) ?? { podUsage: podUsages(metrics, options) };
    case 'ContainerResource':
      return failed(`resource/${metric.containerResource.name}`) ?? { podUsage: podUsages(metrics, options) };
    case 'Pods': {
      const { name } = metric.pods.metric;
      const values = Object.entries(metrics.pods?.[name] ?? {});
      const podValues = values
        .filter(([pod]) => options.isSelected(pod))
        .map(([pod, value]) => ({ pod, value }));
      return failed(`pods/${name}`) ?? { podValues };
    }
    case 'Object': {
      const { name } = metric.object.metric;
      const value = metrics.objects?.[name];
      return failed(`object/${name}`) ?? (value === undefined ? { error: `no ${name}` } : { value });
    }
    case 'External': {
      const { name } = metric.external.metric;
      return failed(`external/${name}`) ?? { values: metrics.external?.[name] ?? [] };
    }
  }
}

/** Parses the selector as the metrics client does. @throws {SelectorError} */
function requireSelector(metric: MetricSpec): void {
  if (metric.type === 'Pods') metricSelector(metric.pods.metric.selector);
  if (metric.type === 'Object') metricSelector(metric.object.metric.selector);
  if (metric.type === 'External') metricSelector(metric.external.metric.selector);
}

/** One object per pod with all of its containers, for any resource. */
function podUsages({ resource = {} }: RecordedMetrics, { isSelected, momentOf }: ReadingOptions): PodUsage[] {
  const pods = new Set(Object.values(resource).flatMap((samples) => Object.keys(samples)));
  return [...pods].filter(isSelected).map((pod) => {
    const samples = Object.entries(resource).flatMap(([name, usages]): [string, RecordedUsage][] => {
      const usage = usages[pod];
      return usage ? [[name, usage]] : [];
    });
    const [, first] = samples[0] as [string, RecordedUsage];
    const containers = new Map<string, Record<string, string>>();
    for (const [name, usage] of samples) {
      for (const [container, amount] of Object.entries(usage.containers)) {
        containers.set(container, { ...containers.get(container), [name]: amount });
      }
    }
    return {
      pod,
      takenAtMs: momentOf(first.ageSeconds),
      windowMs: first.windowSeconds * 1000,
      containers: [...containers].map(([name, usage]) => ({ name, usage })),
    };
  });
}
