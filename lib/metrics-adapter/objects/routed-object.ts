import { z } from 'zod';
import { getOwn } from '#lib/kubernetes/get-own.ts';

/** Where requests come in, and how they are shared out. */
export interface RoutedObject {
  readonly hosts: readonly string[];
  /** Per cent by backend, one map for each way of saying so; none where requests are not shared out. */
  readonly weights: readonly Readonly<Record<string, number>>[];
}

const PERCENT = z.number().min(0).max(100);
const WEIGHTS = z.record(z.string(), PERCENT);
/** Of a RouteGroup: a share, of whatever sum they have. */
const WEIGHT = z.number().min(0).default(0);
const HOSTS = z.array(z.string()).nullable().default([]);

const INGRESS = z.object({
  metadata: z.object({ annotations: z.record(z.string(), z.string()).nullable().default({}) }),
  spec: z.object({ rules: z.array(z.object({ host: z.string().optional() })).nullable().default([]) }),
});
const ROUTE_GROUP = z.object({
  spec: z.object({
    hosts: HOSTS,
    defaultBackends: z
      .array(z.object({ backendName: z.string(), weight: WEIGHT }))
      .nullable()
      .default([]),
  }),
});

/** Takes an Ingress. @throws an Error that names the annotation that cannot be used */
export function readIngress(value: unknown, backendsAnnotations: readonly string[]): RoutedObject {
  const { metadata, spec } = INGRESS.parse(value);
  const annotations = metadata.annotations ?? {};
  const weights = backendsAnnotations.flatMap((name) => {
    const text = getOwn(annotations, name);
    return text === undefined ? [] : [weightsIn(name, text)];
  });
  const hosts = (spec.rules ?? []).flatMap(({ host }) => host || []);
  return { hosts: [...new Set(hosts)], weights };
}

/** Takes a RouteGroup. */
export function readRouteGroup(value: unknown): RoutedObject {
  const { hosts, defaultBackends } = ROUTE_GROUP.parse(value).spec;
  const backends = defaultBackends ?? [];
  return { hosts: [...new Set(hosts ?? [])], weights: backends.length > 1 ? [shares(backends)] : [] };
}

/** Skipper goes by the sum of all weights, and deals out evenly where none is above 0. */
function shares(
  backends: readonly { readonly backendName: string; readonly weight: number }[],
): Readonly<Record<string, number>> {
  const sum = backends.reduce((total, { weight }) => total + weight, 0);
  const percentOf = (weight: number) => (sum > 0 ? weight / sum : 1 / backends.length) * 100;
  return Object.fromEntries(backends.map(({ backendName, weight }) => [backendName, percentOf(weight)]));
}

const MAX_LENGTH = 64 * 1024;

function weightsIn(name: string, text: string): Readonly<Record<string, number>> {
  try {
    if (text.length <= MAX_LENGTH) return WEIGHTS.parse(JSON.parse(text));
  } catch {
    // as for one that is too long
  }
  throw new Error(`annotation ${name} must be a JSON object of backends and their per cent`);
}
