import net from 'node:net';
import { z } from 'zod';
import type { HttpClients } from '#lib/sources/http/http-clients.ts';
import { type FleetMember, JsonFleet } from '#lib/sources/json/json-fleet.ts';
import { shorten } from '#lib/sources/query.ts';
import type { Clock } from '#lib/time/clock.ts';
import { isReadyFor, type TargetPod, type TargetPods } from '../targets/target-pods.ts';
import type { TargetSelectors } from '../targets/target-selectors.ts';
import {
  choice,
  duration,
  extractOf,
  jsonSettings,
  type MetricCollector,
  readSettings,
  wholeNumber,
} from './metric-collector.ts';

interface PodsCollectorOptions {
  readonly clock: Clock;
  /** Can reach any address that a pod may have. */
  readonly clients: HttpClients;
  readonly pods: TargetPods;
  readonly selectors: Pick<TargetSelectors, 'selectorOf'>;
  /** Poll interval of pods without a setting in the HPA. */
  readonly defaultIntervalMs: number;
}

const DEFAULT_TIMEOUT_MS = 15_000;
/** Values are valid for three intervals: if one pod hangs, new values of the others must arrive before. */
const DEFAULT_TIMEOUT_INTERVALS = 2;
const MAX_TIMEOUT_MS = 60_000;
const DAY_MS = 86_400_000;

const settings = z.object({
  ...jsonSettings,
  port: wholeNumber(1, 65_535).describe('Port on which each pod serves the JSON document.'),
  path: z
    .string()
    .refine((value) => value.length <= 1024 && /^[\x21\x24-\x3e\x40-\x7e]*$/.test(value), {
      error: 'must be a path of at most 1024 characters, with special characters percent-encoded',
    })
    .default('')
    .describe('Path of the JSON document; by default `/`.'),
  scheme: choice(['http', 'https'])
    .default('http')
    .describe(
      '`http` or `https`; with `https`, a CA that the system trusts must have signed the certificate.',
    ),
  'raw-query': z
    .string()
    .refine((value) => value.length <= 1024 && /^[\x21\x24-\x7e]*$/.test(value), {
      error: 'must be a query of at most 1024 characters, with special characters percent-encoded',
    })
    .default('')
    .describe('Query string of the URL, without the `?`.'),
  'request-timeout': duration(0, MAX_TIMEOUT_MS)
    .optional()
    .describe(
      'Timeout of the request to a pod. By default 15s, or two intervals if these are shorter; 0 means the maximum, 60s.',
    ),
  'connect-timeout': duration(0, MAX_TIMEOUT_MS)
    .optional()
    .describe('Timeout for connecting to a pod. By default 15s; 0 means the maximum, 60s.'),
  'min-pod-ready-age': duration(0, DAY_MS)
    .optional()
    .describe('Minimum time for which a pod must have been ready before it is queried.'),
});

/** A number in the JSON of each ready pod of an HPA's target, for a Pods metric. */
export function podsCollector(options: PodsCollectorOptions): MetricCollector {
  const { clock, clients, pods, selectors, defaultIntervalMs } = options;
  const fleet = new JsonFleet({ clock });
  return {
    name: 'json-path',
    legacyMetrics: [],
    types: ['Pods'],
    settings,
    queryOf(request) {
      const read = readSettings(settings, request);
      const extract = extractOf(read, request);
      const { values } = read;
      const { namespace, scaleTargetRef } = request.hpa;
      const target = { ...scaleTargetRef, namespace };
      const { intervalMs = defaultIntervalMs } = request.config ?? {};
      const defaultMs = Math.min(DEFAULT_TIMEOUT_MS, DEFAULT_TIMEOUT_INTERVALS * intervalMs);
      const timeoutMs = timeoutOf(values['request-timeout'], defaultMs);
      const connectTimeoutMs = timeoutOf(values['connect-timeout'], DEFAULT_TIMEOUT_MS);
      const minAgeMs = values['min-pod-ready-age'] ?? 0;
      const { scheme, port } = values;
      let isFirst = true; // the HPA has changed, or is new
      const podsNow = async (signal: AbortSignal) => {
        const select = async (isDoubted: boolean) =>
          await pods.select(namespace, await selectors.selectorOf(target, { signal, isDoubted }), signal);
        const selected = await select(isFirst);
        isFirst = false;
        return selected.length > 0 ? selected : await select(true);
      };
      const pathname = `/${values.path.replace(/^\//, '')}`;
      const path = `${pathname}${values['raw-query'] && '?'}${values['raw-query']}`;
      const { apiVersion, kind, name } = target;
      return {
        key: JSON.stringify([
          ...['pods', namespace, apiVersion, kind, name, scheme, port, path, extract.key],
          ...[timeoutMs, connectTimeoutMs, minAgeMs],
        ]),
        // The query may contain a secret key.
        description: `${shorten(extract.text)} in ${pathname} at port ${port} of the pods of ${kind} ${namespace}/${name}`,
        source: 'pods',
        maxConcurrent: Number.POSITIVE_INFINITY, // the fleet bounds them, pod by pod
        timeoutMs: JsonFleet.maxDurationMs(timeoutMs) + SPARE_MS,
        async run(signal, note) {
          const ready = (await podsNow(signal)).filter((pod) => isReadyFor(pod, minAgeMs, clock.nowMs()));
          const members = ready.flatMap((pod) => memberOf(pod, { scheme, port, path }) ?? []);
          const http = clients.find({ connectTimeoutMs });
          return await fleet.query(members, { http, extract, timeoutMs, signal, note, namespace });
        },
      };
    },
  };
}

/** So that the results of pods that responded count, although others run into the timeout. */
const SPARE_MS = 1_000;

function timeoutOf(givenMs: number | undefined, defaultMs: number): number {
  return givenMs === 0 ? MAX_TIMEOUT_MS : (givenMs ?? defaultMs);
}

function memberOf(
  { name, uid, ip }: TargetPod,
  { scheme, port, path }: { readonly scheme: string; readonly port: number; readonly path: string },
): FleetMember | undefined {
  if (ip === undefined) return undefined;
  const host = net.isIPv6(ip) ? `[${ip}]` : ip;
  const url = `${scheme}://${host}:${port}${path}`;
  return URL.canParse(url) ? { url: new URL(url), labels: { pod: name, uid }, name } : undefined;
}
