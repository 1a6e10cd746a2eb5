import { type HpaMetric, nameOfMetric, type ScaledHpa } from '../annotations/collected-metrics.ts';
import type { LabelledObject } from '../targets/object-labels.ts';
import type { CollectedMetric, PlanProblem } from './collected-hpa.ts';
import type { MetricClaims } from './metric-claims.ts';

/** Says how the metrics of an HPA are collected, in the place of what it said before. @returns as {@link MetricClaims.put} */
export function claimMetrics(
  claims: MetricClaims,
  { namespace, name, createdAt, scaleTargetRef }: ScaledHpa,
  metrics: readonly CollectedMetric[],
): ReadonlySet<string> {
  return claims.put(
    `${namespace}/${name}`,
    metrics.flatMap((one) => {
      const subject = subjectOf(one, namespace);
      // What is divided by the replicas of one target is another value than the whole, or what is divided by those of another.
      const { apiVersion, kind, name: target } = scaleTargetRef;
      const divisor = one.perReplica ? [namespace, apiVersion, kind, target] : [];
      const queryKey = JSON.stringify([one.query.key, ...divisor]);
      return subject === undefined ? [] : { subject, queryKey, createdAt };
    }),
  );
}

/** Which metrics of an HPA are collected as it says, and which as another HPA does. */
export function contestMetrics<T extends CollectedMetric>(
  claims: MetricClaims,
  { namespace, name }: ScaledHpa,
  metrics: readonly T[],
): { readonly won: readonly T[]; readonly lost: readonly PlanProblem[] } {
  const lost: PlanProblem[] = [];
  const won = metrics.filter((one) => {
    const subject = subjectOf(one, namespace);
    const rival = subject === undefined ? undefined : claims.rivalOf(`${namespace}/${name}`, subject);
    if (rival === undefined) return true;
    lost.push({ metric: nameOfMetric(one.metric), error: lostTo(rival, one.metric) });
    return false;
  });
  return { won, lost };
}

/** The object that a metric of type Object is about. */
export function describedIn(
  { metric, resource }: CollectedMetric,
  hpaNamespace: string,
): LabelledObject | undefined {
  if (!resource || !metric.describedObject) return undefined;
  const { group, kind, namespaced } = resource;
  return { group, kind, namespace: namespaced ? hpaNamespace : '', name: metric.describedObject.name };
}

/** The same for External metrics that a request cannot tell apart: autoscalers ask by name, without regard to case, and labels. */
export function externalSubject({ name, matchLabels }: HpaMetric): string {
  return JSON.stringify([name.toLowerCase(), sorted(matchLabels)]);
}

/** The metric as a request names it; `undefined` for one that nobody contests. */
function subjectOf(one: CollectedMetric, hpaNamespace: string): string | undefined {
  const { type, name, matchLabels, expressionKeys = [] } = one.metric;
  if (type === 'External') {
    // Expressions may have each HPA pick its own of the labels that sources tell.
    return expressionKeys.length > 0
      ? undefined
      : JSON.stringify(['External', hpaNamespace, externalSubject(one.metric)]);
  }
  const object = describedIn(one, hpaNamespace);
  return object && JSON.stringify([object, name, sorted(matchLabels)]);
}

function lostTo(rival: string, metric: HpaMetric): Error {
  const { kind = '', name = '' } = metric.describedObject ?? {};
  return new Error(
    metric.type === 'External'
      ? `${nameOfMetric(metric)} is collected by another query already, of HPA ${rival}; autoscalers would add both up, so give it another name`
      : `The metric of ${kind} ${name} is collected by another query, or divided by other replicas, already, of HPA ${rival}; a request cannot tell them apart`,
  );
}

function sorted(labels: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
}
