import type { ApiContext } from '#lib/doctor/cluster-context.ts';
import { collectionPath } from '#lib/kubernetes/client/api-resource.ts';
import { HPA_KIND, HPA_VERSIONS } from '#lib/kubernetes/informer/wait-until-served.ts';
import { nameOfMetric, readScaledHpa, type ScaledHpa } from '../annotations/collected-metrics.ts';
import type { MetricCollector } from '../collectors/metric-collector.ts';
import type { PlannedCollector, PlanProblem } from '../plans/collected-hpa.ts';
import { claimMetrics, contestMetrics, MetricClaims } from '../plans/metric-owners.ts';
import { planCollectors } from '../plans/plan-collectors.ts';

/** Collectors as the flags choose them; what they opened is closed with the stack. */
export type OpenCollectors = (
  context: ApiContext,
  stack: AsyncDisposableStack,
) => Promise<readonly MetricCollector[]>;

/** What is examined, and by which collectors. */
export interface ExaminedMetricsOptions {
  readonly openCollectors: OpenCollectors;
  /** The one namespace to look at; `undefined` for all. */
  readonly namespace: string | undefined;
  /** Metrics of an API that is not served are nobody's. */
  readonly groups: readonly MetricsGroup[];
}

/** A metrics API that collected metrics are served by. */
export type MetricsGroup = 'custom.metrics.k8s.io' | 'external.metrics.k8s.io';

/** A metric of an HPA that is collected. */
export interface ExaminedMetric {
  readonly hpa: ScaledHpa;
  readonly planned: PlannedCollector;
  readonly group: MetricsGroup;
}

/** What is collected, and what cannot be. */
export interface ExaminedPlans {
  readonly metrics: readonly ExaminedMetric[];
  readonly problems: readonly (PlanProblem & { readonly hpa: ScaledHpa })[];
}

/** The metrics of HPAs, as all checks of an examination see them: HPAs are listed once. */
export class ExaminedMetrics {
  /** By their keys, the queries whose sources were found to give no result. */
  readonly silentQueries = new Set<string>();
  readonly #options: ExaminedMetricsOptions;
  #hpas: Promise<readonly ScaledHpa[]> | undefined;

  constructor(options: ExaminedMetricsOptions) {
    this.#options = options;
  }

  get groups(): readonly MetricsGroup[] {
    return this.#options.groups;
  }

  /** Works out what is collected, for as long as `look` takes. */
  async look<T>(context: ApiContext, look: (plans: ExaminedPlans) => Promise<T>): Promise<T> {
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
    return await look({
      metrics: plans.flatMap(({ hpa, planned }) =>
        planned
          .map((one) => ({ hpa, planned: one, group: groupOf(nameOfMetric(one.metric)) }))
          .filter(({ group }) => this.groups.includes(group)),
      ),
      problems: plans.flatMap(({ hpa, problems }) => problems.map((problem) => ({ hpa, ...problem }))),
    });
  }

  async #list(context: ApiContext): Promise<readonly ScaledHpa[]> {
    for (const apiVersion of HPA_VERSIONS) {
      const resource = await context.mapper.findExact({ apiVersion, kind: HPA_KIND }, context.signal);
      if (!resource) continue;
      const collection = { path: collectionPath(resource, this.#options.namespace) };
      return await context.list('horizontalpodautoscalers.autoscaling', collection, readScaledHpa);
    }
    return [];
  }
}

/** As findings name a metric. */
export function subjectOf({ hpa, planned }: Pick<ExaminedMetric, 'hpa' | 'planned'>): string {
  return `${subjectOfHpa(hpa)} ${nameOfMetric(planned.metric)}`;
}

/** As findings name an HPA. */
export function subjectOfHpa({ namespace, name }: ScaledHpa): string {
  return `hpa ${namespace}/${name}`;
}

/** Which API serves a metric, by its name as messages have it. */
export function groupOf(metric: string): MetricsGroup {
  return metric.startsWith('External/') ? 'external.metrics.k8s.io' : 'custom.metrics.k8s.io';
}
