import { type HpaMetric, nameOfMetric, type ScaledHpa } from '../collected-metrics.ts';
import type { LabelledObject } from '../targets/object-labels.ts';
import type { CollectedMetric, PlanProblem } from './collected-hpa.ts';

/** How one HPA collects a metric, where requests of another HPA may get the same metric. */
interface MetricClaim {
  /** Equal for metrics that a request cannot distinguish, of any HPA. */
  readonly subject: string;
  /** Equal for metrics with the same value. */
  readonly queryKey: string;
  /** Creation time of the HPA, in text order. */
  readonly createdAt: string;
}

/**
 * Owners of metrics. A request names a metric, and its object if it has one, but not the HPA, nor, for a cluster-scoped
 * object, that HPA's namespace: two HPAs that collect it by different queries would get each other's values, or the sum
 * of both. The HPA that was created first wins.
 */
export class MetricClaims {
  readonly #byOwner = new Map<string, readonly MetricClaim[]>();
  readonly #bySubject = new Map<string, Claimed>();

  /**
   * Replaces the claims of an owner.
   *
   * @returns the other owners whose {@link conflictingOwner} has changed
   */
  put(owner: string, claims: readonly MetricClaim[]): ReadonlySet<string> {
    const before = this.#byOwner.get(owner) ?? [];
    if (areEqual(before, claims)) return NO_OWNERS; // as when only the status of an HPA has changed
    const firsts = new Map<string, First | undefined>();
    for (const { subject } of [...before, ...claims])
      firsts.set(subject, this.#bySubject.get(subject)?.first);
    for (const { subject } of before) this.#take(subject, owner);
    this.#byOwner.delete(owner);
    if (claims.length > 0) this.#byOwner.set(owner, claims);
    for (const claim of claims) this.#add(claim, owner);
    return new Set([...firsts].flatMap(([subject, first]) => [...this.#overturned(subject, first, owner)]));
  }

  /** The owner that wins with another query; `undefined` if this one wins. */
  conflictingOwner(owner: string, subject: string): string | undefined {
    const claimed = this.#bySubject.get(subject);
    return conflictBy(claimed?.first, claimed?.byOwner.get(owner));
  }

  #add(claim: MetricClaim, owner: string): void {
    const { byOwner, first } = this.#bySubject.get(claim.subject) ?? { byOwner: new Map(), first: undefined };
    byOwner.set(owner, claim);
    const own = { owner, claim };
    // An owner that claims a subject twice does not conflict with itself, and the later claim wins.
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
      if (other !== owner && conflictBy(before, claim) !== conflictBy(first, claim)) yield other;
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

const NO_OWNERS: ReadonlySet<string> = new Set();

function conflictBy(first: First | undefined, own: MetricClaim | undefined): string | undefined {
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

/**
 * Replaces the claims of an HPA by those of its metrics.
 *
 * @returns as {@link MetricClaims.put}
 */
export function claimMetrics(
  claims: MetricClaims,
  { namespace, name, createdAt, scaleTargetRef }: ScaledHpa,
  metrics: readonly CollectedMetric[],
): ReadonlySet<string> {
  return claims.put(
    `${namespace}/${name}`,
    metrics.flatMap((one) => {
      const subject = subjectOf(one, namespace);
      // A value divided by the replicas of one target differs from the whole, and from one divided by those of another
      // target.
      const { apiVersion, kind, name: target } = scaleTargetRef;
      const divisor = one.perReplica ? [namespace, apiVersion, kind, target] : [];
      const queryKey = JSON.stringify([one.query.key, ...divisor]);
      return subject === undefined ? [] : { subject, queryKey, createdAt };
    }),
  );
}

/** Separates the metrics of an HPA that win from those that conflict with another HPA's. */
export function contestMetrics<T extends CollectedMetric>(
  claims: MetricClaims,
  { namespace, name }: ScaledHpa,
  metrics: readonly T[],
): { readonly won: readonly T[]; readonly lost: readonly PlanProblem[] } {
  const lost: PlanProblem[] = [];
  const won = metrics.filter((one) => {
    const subject = subjectOf(one, namespace);
    const owner =
      subject === undefined ? undefined : claims.conflictingOwner(`${namespace}/${name}`, subject);
    if (owner === undefined) return true;
    lost.push({ metric: nameOfMetric(one.metric), error: lostTo(owner, one.metric) });
    return false;
  });
  return { won, lost };
}

/** The object of a metric of type Object. */
export function describedIn(
  { metric, resource }: CollectedMetric,
  hpaNamespace: string,
): LabelledObject | undefined {
  if (!resource || !metric.describedObject) return undefined;
  const { group, kind, namespaced } = resource;
  return { group, kind, namespace: namespaced ? hpaNamespace : '', name: metric.describedObject.name };
}

/** The identity of an External metric in requests: its name, ignoring case, and labels. */
export function externalSubject({ name, matchLabels }: HpaMetric): string {
  return JSON.stringify([name.toLowerCase(), sorted(matchLabels)]);
}

/** The identity of the metric in requests; `undefined` for one without conflicts. */
function subjectOf(one: CollectedMetric, hpaNamespace: string): string | undefined {
  const { type, name, matchLabels, expressionKeys = [] } = one.metric;
  if (type === 'External') {
    // With expressions, each HPA may select its own labels of the source.
    return expressionKeys.length > 0
      ? undefined
      : JSON.stringify(['External', hpaNamespace, externalSubject(one.metric)]);
  }
  const object = describedIn(one, hpaNamespace);
  return object && JSON.stringify([object, name, sorted(matchLabels)]);
}

function lostTo(owner: string, metric: HpaMetric): Error {
  const { kind = '', name = '' } = metric.describedObject ?? {};
  return new Error(
    metric.type === 'External'
      ? `HPA ${owner} already collects ${nameOfMetric(metric)} by another query. Rename one of the two metrics, because an HPA would use the sum of both`
      : `HPA ${owner} already collects ${nameOfMetric(metric)} of ${kind} ${name} by another query, or divides the value by the replicas of another target. Rename one of the two metrics, because requests cannot distinguish them`,
  );
}

function sorted(labels: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  return Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
}
