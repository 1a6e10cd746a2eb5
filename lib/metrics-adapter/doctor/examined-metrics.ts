import { type Diagnoses, failedBy } from '#lib/doctor/check.ts';
import type { ClusterContext } from '#lib/doctor/cluster-context.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { collectionPath } from '#lib/kubernetes/client/api-resource.ts';
import { HPAS } from '#lib/kubernetes/objects/hpa-versions.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { type HpaMetric, nameOfMetric, SCALED_HPAS, type ScaledHpa } from '../collected-metrics.ts';
import type { MetricCollector } from '../collectors/metric-collector.ts';
import type { PlannedCollector, PlanProblem } from '../plans/collected-hpa.ts';
import { claimMetrics, contestMetrics, MetricClaims } from '../plans/metric-owners.ts';
import { planCollectors } from '../plans/plan-collectors.ts';

/** Opens the collectors that the flags choose; their resources are disposed with the stack. */
export type OpenCollectors = (
  context: ClusterContext,
  stack: AsyncDisposableStack,
) => Promise<readonly MetricCollector[]>;

interface ExaminedMetricsOptions {
  readonly openCollectors: OpenCollectors;
  /** `undefined` for all. */
  readonly namespace: string | undefined;
  /** Metrics of an API that is not served are ignored. */
  readonly groups: readonly MetricsGroup[];
}

/** An API group of collected metrics. */
export type MetricsGroup = 'custom.metrics.k8s.io' | 'external.metrics.k8s.io';

/** A collected metric of an HPA. */
export interface ExaminedMetric {
  readonly hpa: ScaledHpa;
  readonly planned: PlannedCollector;
  readonly group: MetricsGroup;
}

/** A metric of an HPA that only another provider can serve, if any. */
export interface UncollectedMetric {
  readonly hpa: ScaledHpa;
  readonly metric: HpaMetric;
  readonly group: MetricsGroup;
}

/** Collected metrics, the others, and problems of those that cannot be collected. */
export interface ExaminedPlans {
  readonly metrics: readonly ExaminedMetric[];
  /** Without metrics in `problems`, and without those of ScaledObjects, which have a doctor of their own. */
  readonly uncollected: readonly UncollectedMetric[];
  readonly problems: readonly (PlanProblem & { readonly hpa: ScaledHpa })[];
}

/** The metrics of HPAs, shared by all checks of an examination: HPAs are listed once. */
export class ExaminedMetrics {
  /** Keys of the queries that had no result. */
  readonly silentQueries = new Set<string>();
  readonly #options: ExaminedMetricsOptions;
  #hpas: Promise<readonly ScaledHpa[]> | undefined;

  constructor(options: ExaminedMetricsOptions) {
    this.#options = options;
  }

  get groups(): readonly MetricsGroup[] {
    return this.#options.groups;
  }

  /** Plans the collectors, and disposes them after `use`. */
  async withPlans<T>(context: ClusterContext, use: (plans: ExaminedPlans) => Promise<T>): Promise<T> {
    this.#hpas ??= this.#list(context);
    const hpas = await this.#hpas;
    await using stack = new AsyncDisposableStack();
    const collectors = await this.#options.openCollectors(context, stack);
    const claims = new MetricClaims();
    const made = hpas.map((hpa) => ({ hpa, ...planCollectors(hpa, collectors) }));
    for (const { hpa, planned } of made) claimMetrics(claims, hpa, planned);
    const plans = made.map(({ hpa, planned, problems }) => {
      const { won, lost } = contestMetrics(claims, hpa, planned);
      return { hpa, planned: won, problems: [...problems, ...lost] };
    });
    return await use({
      metrics: plans.flatMap(({ hpa, planned }) =>
        planned
          .map((one) => ({ hpa, planned: one, group: groupOf(nameOfMetric(one.metric)) }))
          .filter(({ group }) => this.groups.includes(group)),
      ),
      uncollected: made
        .flatMap(({ hpa, planned, problems }) =>
          findUncollected(hpa, planned, problems).map((metric) => ({ hpa, metric })),
        )
        .map((one) => ({ ...one, group: groupOf(nameOfMetric(one.metric)) }))
        .filter(({ group }) => this.groups.includes(group)),
      problems: plans.flatMap(({ hpa, problems }) => problems.map((problem) => ({ hpa, ...problem }))),
    });
  }

  async #list(context: ClusterContext): Promise<readonly ScaledHpa[]> {
    for (const version of HPAS.versions) {
      const { group, kind } = HPAS.resource;
      const resource = await context.mapper.findExact(
        { apiVersion: `${group}/${version}`, kind },
        context.signal,
      );
      if (!resource) continue;
      const collection = { path: collectionPath(resource, this.#options.namespace) };
      const decode = HPAS.decoder([SCALED_HPAS.needs], version);
      return await context.list('horizontalpodautoscalers.autoscaling', collection, (value) => {
        try {
          return SCALED_HPAS.view(decode(value));
        } catch {
          return undefined;
        }
      });
    }
    return [];
  }
}

/** Label of the metrics in the HPA of a ScaledObject. */
const OF_SCALED_OBJECT = 'scaledobject.keda.sh/name';

function findUncollected(
  { metrics }: ScaledHpa,
  planned: readonly PlannedCollector[],
  problems: readonly PlanProblem[],
): readonly HpaMetric[] {
  const reported = new Set([
    ...planned.map(({ metric }) => nameOfMetric(metric)),
    ...problems.flatMap(({ metric, meant }) => [metric, ...(meant?.split(', ') ?? [])]),
  ]);
  return metrics.filter(
    (metric) => !reported.has(nameOfMetric(metric)) && !Object.hasOwn(metric.matchLabels, OF_SCALED_OBJECT),
  );
}

/** A metric in findings. */
export function subjectOf({ hpa, planned }: Pick<ExaminedMetric, 'hpa' | 'planned'>): string {
  return `${subjectOfHpa(hpa)} ${nameOfMetric(planned.metric)}`;
}

/** An HPA in findings. */
export function subjectOfHpa({ namespace, name }: ScaledHpa): string {
  return `hpa ${namespace}/${name}`;
}

/** The API group of a metric, by its name in messages. */
export function groupOf(metric: string): MetricsGroup {
  return metric.startsWith('External/') ? 'external.metrics.k8s.io' : 'custom.metrics.k8s.io';
}

/** Versions of the metrics APIs, in the order of preference of HPA controllers. */
export const METRICS_VERSIONS: Readonly<Record<MetricsGroup, readonly string[]>> = {
  'custom.metrics.k8s.io': ['v1beta2', 'v1beta1'],
  'external.metrics.k8s.io': ['v1beta1'],
};

/** A version of a metrics API that responds through the API server. */
export interface RespondingVersion {
  readonly version: string;
  /** The metrics in its discovery. */
  readonly names: ReadonlySet<string>;
}

/** The responding version with the metrics in its discovery; `undefined` where none responds. */
export async function respondingVersion(
  context: ClusterContext,
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

/** Whether discovery lists a metric: as `NAME`, or as `RESOURCE/NAME`. */
export function isDiscovered({ planned, group }: ExaminedMetric, names: ReadonlySet<string>): boolean {
  const { name } = planned.metric;
  if (group === 'external.metrics.k8s.io') return names.has(name);
  return names.values().some((one) => one.endsWith(`/${name}`));
}

/** Diagnoses of metrics that are collected for HPAs. */
export const METRICS_DIAGNOSES = {
  'metric-not-configured': {
    title: 'A metric of an HPA has an invalid configuration',
    remedy:
      'Fix what the finding names in the annotations or the metrics of HPA NAME: `kubectl -n NAMESPACE edit hpa NAME`; docs/reference/annotations.md has an example of each collector.',
  },
  'prometheus-server-missing': {
    title: 'No Prometheus server is configured for a metric of an HPA',
    remedy:
      'Set --prometheus-server of the autoscaler, for all HPAs, or the setting that the finding names, for HPA NAME only: `kubectl -n NAMESPACE edit hpa NAME`.',
  },
  'metric-misnamed': {
    title: 'The annotations and the spec of an HPA name different metrics',
    remedy:
      'Use the same name in the annotations and the metrics of HPA NAME: `kubectl -n NAMESPACE edit hpa NAME`. The annotations configure CONFIGURED, which no metric uses, and nothing collects REQUESTED; if another provider serves REQUESTED, remove the annotations.',
  },
  'metrics-api-unregistered': {
    title: 'A metrics API with collected metrics is not registered',
    remedy:
      'Add the component COMPONENT to the kustomization, or set the values metricsApis of the chart, so that the APIService of GROUP refers to the autoscaler.',
  },
  'metrics-api-unavailable': {
    title: 'An APIService of collected metrics is not available',
    remedy:
      'Check that the pods of SERVICE are ready, read their logs, and allow TCP connections from the API server to these pods at the port of --secure-port. `kubectl get apiservice NAME -o yaml` shows the error.',
  },
  'metrics-api-of-another': {
    title: 'The provider of a metrics API serves no collected metric',
    remedy:
      'If SERVICE is the autoscaler, check that it runs with the flags that the doctor has, such as --prometheus-server, and that it has started without errors in its log. If SERVICE is another provider, choose one provider of GROUP: to use the autoscaler, apply the component COMPONENT; to use SERVICE, set --enable-FLAG-metrics-api=false and remove the annotations metric-config.',
  },
  'metric-source-silent': {
    title: 'The query of a metric fails',
    remedy:
      'REMEDY Until then, the HPA uses the last value for three intervals, and does not scale down without a value.',
  },
  'metric-not-served': {
    title: 'A metric with a value is not served',
    remedy:
      'Query /debug/metrics of each replica for HPA NAME in NAMESPACE: a replica that cannot reach the source, or has not observed the HPA, does not serve the metric.',
  },
  'metric-without-collector': {
    title: 'Nothing serves a metric of an HPA',
    remedy:
      'Add the annotation that configures a collector for METRIC, ANNOTATION: `kubectl -n NAMESPACE edit hpa NAME`; docs/reference/annotations.md has an example of each collector. If another provider is meant to serve the metric, check that it runs and has this metric: `kubectl get apiservices` shows which Service serves GROUP.',
  },
} as const satisfies Diagnoses;

/** Makes a finding with one of these diagnoses. */
export const failed = failedBy(METRICS_DIAGNOSES);
