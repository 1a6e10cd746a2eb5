import type { Declared, DeclaredKind } from '../objects/declared-object.ts';
import { resourceOf } from '../objects/declared-object.ts';
import type { PrometheusSpec, ScrapeClass } from '../objects/prometheus.ts';
import { refuse } from '../objects/refusal.ts';
import type { References } from '../selection/references.ts';
import type { PrometheusVersion } from './prometheus-version.ts';
import type { Relabelings } from './relabelings.ts';
import { supports } from './version-gates.ts';

/** What all parts of the configuration of one Prometheus are made from. */
export interface ConfigurationContext {
  readonly prometheus: Declared<'Prometheus'>;
  readonly version: PrometheusVersion;
  readonly scrapeClasses: ReadonlyMap<string, CheckedScrapeClass>;
  /** Of objects without `scrapeClass`. */
  readonly defaultClass: CheckedScrapeClass | undefined;
  /** Reads what objects of a namespace refer to. */
  references(namespace: string): References;
}

/** A scrape class, with its relabelings as they are written. */
export interface CheckedScrapeClass extends Omit<ScrapeClass, 'relabelings' | 'metricRelabelings'> {
  readonly relabelings: Relabelings;
  readonly metricRelabelings: Relabelings;
}

/**
 * The scrape class of an object: the one that it names, or the default one, if there is any.
 *
 * @throws {Refusal} for a name that the Prometheus does not have
 */
export function findScrapeClass(
  name: string | undefined,
  { scrapeClasses, defaultClass }: ConfigurationContext,
): CheckedScrapeClass | undefined {
  if (name === undefined) return defaultClass;
  return scrapeClasses.get(name) ?? refuse(`scrapeClass "${name}" not found in Prometheus scrapeClasses`);
}

/** The number of Prometheuses among which targets are distributed. */
export function shardsOf({ shards = 1 }: PrometheusSpec): number {
  return Math.max(1, shards);
}

interface ServiceRole {
  readonly role: 'endpoints' | 'endpointslice';
  readonly labelPrefix: string;
}

/**
 * The role by which targets of Services are discovered, and what the names of its labels begin with.
 *
 * @param role of the object; that of the Prometheus applies without it
 */
export function serviceRole(
  role: PrometheusSpec['serviceDiscoveryRole'],
  { prometheus, version }: ConfigurationContext,
): ServiceRole {
  const desired = role ?? prometheus.spec.serviceDiscoveryRole;
  return desired === 'EndpointSlice' && supports('role endpointslice', version)
    ? { role: 'endpointslice', labelPrefix: '__meta_kubernetes_endpointslice' }
    : { role: 'endpoints', labelPrefix: '__meta_kubernetes_endpoint' };
}

/** The label that the Prometheus adds to targets and series of an object; `undefined` if it is excluded. */
export function enforcedLabel(
  object: Declared<DeclaredKind>,
  { prometheus }: ConfigurationContext,
): { readonly name: string; readonly value: string } | undefined {
  const { enforcedNamespaceLabel: name, excludedFromEnforcement = [] } = prometheus.spec;
  if (!name) return undefined;
  const isExcluded = excludedFromEnforcement.some(
    (excluded) =>
      excluded.group === 'monitoring.coreos.com' &&
      excluded.resource === resourceOf(object.kind) &&
      excluded.namespace === object.namespace &&
      (!excluded.name || excluded.name === object.name),
  );
  return isExcluded ? undefined : { name, value: object.namespace };
}
