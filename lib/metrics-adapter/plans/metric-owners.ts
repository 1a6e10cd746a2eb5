import { type HpaMetric, nameOfMetric, type ScaledHpa } from '../collected-metrics.ts';
import type { LabelledObject } from '../targets/object-labels.ts';
import type { CollectedMetric, PlanProblem } from './collected-hpa.ts';

/** What one HPA says of how a metric is collected that requests for another HPA may get, too. */
interface MetricClaim {
  /** The same for metrics that a request cannot tell apart, by whatever HPA. */
  readonly subject: string;
  /** The same for metrics of one value. */
  readonly queryKey: string;
  /** When the HPA was created, in the order of time. */
  readonly createdAt: string;
}

/**
 * Who is first to say how a metric is collected. A request names a metric, and the object where it is of one, but not the
 * HPA that it is for, nor, where the object is in no namespace, that HPA's namespace: two that collect it by different
 * queries would get each other's values, or the sum of both. The HPA that was created first has its way.
 */
export class MetricClaims {
  readonly #byOwner = new Map<string, readonly MetricClaim[]>();
  readonly #bySubject = new Map<string, Claimed>();

  /**
   * Has these claims of an owner count, and no others of its.
   *
   * @returns the other owners whose {@link rivalOf} is another than before
   */
  put(owner: string, claims: readonly MetricClaim[]): ReadonlySet<string> {
    const before = this.#byOwner.get(owner) ?? [];
    if (areEqual(before, claims)) return NOBODY; // as whenever only the status of an HPA has changed
    const firsts = new Map<string, First | undefined>();
    for (const { subject } of [...before, ...claims])
      firsts.set(subject, this.#bySubject.get(subject)?.first);
    for (const { subject } of before) this.#take(subject, owner);
    this.#byOwner.delete(owner);
    if (claims.length > 0) this.#byOwner.set(owner, claims);
    for (const claim of claims) this.#add(claim, owner);
    return new Set([...firsts].flatMap(([subject, first]) => [...this.#overturned(subject, first, owner)]));
  }

  /** The owner that has its way with another query; `undefined` where this one has. */
  rivalOf(owner: string, subject: string): string | undefined {
    const claimed = this.#bySubject.get(subject);
    return rivalBy(claimed?.first, claimed?.byOwner.get(owner));
  }

  #add(claim: MetricClaim, owner: string): void {
    const { byOwner, first } = this.#bySubject.get(claim.subject) ?? { byOwner: new Map(), first: undefined };
    byOwner.set(owner, claim);
    const own = { owner, claim };
    // One that claims a subject twice is its own rival, and the later counts.
    const isFirst = !first || first.owner === owner || isBefore(own, first);
    this.#bySubject.set(claim.subject, { byOwner, first: isFirst ? own : first });
  }

  #take(subject: string, owner: string): void {
    const claimed = this.#bySubject.get(subject);
    if (!claimed?.byOwner.delete(owner)) return;
    const { byOwner, first } = claimed;
    if (byOwner.size === 0) this.#bySubject.delete(subject);
    else if (first?.owner === owner) this.#bySubject.set(subject, { byOwner, first: firstOf(byOwner) });
  }

  *#overturned(subject: string, before: First | undefined, owner: string): Generator<string> {
    const { byOwner, first } = this.#bySubject.get(subject) ?? {};
    if (!byOwner || (before?.owner === first?.owner && before?.claim.queryKey === first?.claim.queryKey))
      return;
    for (const [other, claim] of byOwner)
      if (other !== owner && rivalBy(before, claim) !== rivalBy(first, claim)) yield other;
  }
}

interface First {
  readonly owner: string;
  readonly claim: MetricClaim;
}

interface Claimed {
  readonly byOwner: Map<string, MetricClaim>;
  readonly first: First | undefined;
}

const NOBODY: ReadonlySet<string> = new Set();

function rivalBy(first: First | undefined, own: MetricClaim | undefined): string | undefined {
  return first && own && first.claim.queryKey !== own.queryKey ? first.owner : undefined;
}

function firstOf(byOwner: ReadonlyMap<string, MetricClaim>): First | undefined {
  let first: First | undefined;
  for (const [owner, claim] of byOwner)
    if (!first || isBefore({ owner, claim }, first)) first = { owner, claim };
  return first;
}

function isBefore(a: First, b: First): boolean {
  const [atA, atB] = [a.claim.createdAt, b.claim.createdAt];
  return atA === atB ? a.owner < b.owner : atA < atB;
}

function areEqual(a: readonly MetricClaim[], b: readonly MetricClaim[]): boolean {
  return (
    a.length === b.length &&
    a.every(
      ({ subject, queryKey, createdAt }, index) =>
        b[index]?.subject === subject && b[index].queryKey === queryKey && b[index].createdAt === createdAt,
    )
  );
}

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
