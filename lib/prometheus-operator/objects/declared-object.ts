import * as z from 'zod';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import { readBoundedObject, readObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import type { PodMonitorSpec, ProbeSpec, ServiceMonitorSpec } from './monitors.ts';
import { POD_MONITOR_SPEC, PROBE_SPEC, SERVICE_MONITOR_SPEC } from './monitors.ts';
import { PROMETHEUS_SPEC, type PrometheusSpec } from './prometheus.ts';
import { SCRAPE_CONFIG_SPEC, type ScrapeConfigSpec } from './scrape-config.ts';

/** An object of `monitoring.coreos.com`, with the defaults of its definition. */
export interface Declared<Kind extends DeclaredKind = DeclaredKind> {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly spec: Specs[Kind];
}

/** What each kind declares. */
interface Specs {
  readonly Prometheus: PrometheusSpec;
  readonly ServiceMonitor: ServiceMonitorSpec;
  readonly PodMonitor: PodMonitorSpec;
  readonly Probe: ProbeSpec;
  readonly ScrapeConfig: ScrapeConfigSpec;
}

export type DeclaredKind = keyof Specs;
/** Kinds that Prometheuses select. */
export type SelectedKind = Exclude<DeclaredKind, 'Prometheus'>;

interface KindFacts {
  readonly schema: z.ZodType;
  /** The name of its collection in the API. */
  readonly resource: string;
}

const KINDS: ReadonlyMap<string, KindFacts> = new Map(
  Object.entries({
    Prometheus: { schema: PROMETHEUS_SPEC, resource: 'prometheuses' },
    ServiceMonitor: { schema: SERVICE_MONITOR_SPEC, resource: 'servicemonitors' },
    PodMonitor: { schema: POD_MONITOR_SPEC, resource: 'podmonitors' },
    Probe: { schema: PROBE_SPEC, resource: 'probes' },
    ScrapeConfig: { schema: SCRAPE_CONFIG_SPEC, resource: 'scrapeconfigs' },
  } satisfies Record<DeclaredKind, KindFacts>),
);

export function isDeclaredKind(kind: string): kind is DeclaredKind {
  return KINDS.has(kind);
}

/** As in `servicemonitors`. */
export function resourceOf(kind: DeclaredKind): string {
  return KINDS.get(kind)?.resource ?? '';
}

/**
 * Reads an object by the schema of its kind. As in Go, fields that are null count as absent.
 *
 * @param defaultNamespace of an object without one
 * @throws an Error that names the first wrong field
 */
export function readDeclared<Kind extends DeclaredKind>(
  kind: Kind,
  value: unknown,
  defaultNamespace: string,
): Declared<Kind> {
  const object = withoutNulls(readBoundedObject(value));
  const { namespace, name, labels } = readObject(object).metadata;
  const schema = z.object({ spec: KINDS.get(kind)?.schema ?? z.never() });
  const { spec } = readAs(schema, `the ${kind}`, object);
  return {
    kind,
    namespace: namespace ?? defaultNamespace,
    name,
    labels: labels ?? {},
    spec: spec as Specs[Kind],
  };
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== null);
  return Object.fromEntries(fields.map(([key, field]) => [key, withoutNulls(field)]));
}
