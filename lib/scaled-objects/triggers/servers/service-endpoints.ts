import { isIP } from 'node:net';
import { isDnsLabel } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';

/** A Service in the cluster. */
export interface ServiceName {
  readonly namespace: string;
  readonly service: string;
}

/** Where some pods of a Service are ready. */
export interface ServiceEndpoints {
  readonly addresses: readonly string[];
  readonly ports: readonly number[];
}

/** Lists the endpoints of a Service that are ready. */
export type ListEndpoints = (
  service: ServiceName,
  signal: AbortSignal,
) => Promise<readonly ServiceEndpoints[]>;

/** What several numbers come to. */
export const AGGREGATIONS = ['average', 'sum', 'max', 'min'] as const;

/** A missing value would make these too low, and somebody would scale down on it. */
const NEEDS_ALL: readonly (typeof AGGREGATIONS)[number][] = ['sum', 'max'];

const AT_ONCE = 5;
const MOST_ENDPOINTS = 1000;

/** The Service that a URL names by `SERVICE.NAMESPACE`, whatever follows. @throws where it names none */
export function serviceIn({ hostname }: URL): ServiceName {
  const [service = '', namespace = ''] = isIP(hostname) === 0 ? hostname.split('.') : [];
  if (isDnsLabel(service) && isDnsLabel(namespace)) return { service, namespace };
  throw new Error(
    `parameter "url" must have SERVICE.NAMESPACE for its host beside aggregateFromKubeServiceEndpoints`,
  );
}

/** The URLs of endpoints, each address once: at the port of the URL if they have it, otherwise at that of its scheme. */
export function endpointUrls(url: URL, endpoints: readonly ServiceEndpoints[]): readonly URL[] {
  const usual = url.protocol === 'https:' ? 443 : 80;
  const wanted = url.port === '' ? usual : Number(url.port);
  const urls = new Map<string, URL>();
  for (const { addresses, ports } of endpoints) {
    for (const address of addresses) {
      if (urls.has(address)) continue;
      if (urls.size === MOST_ENDPOINTS)
        throw new Error(`the service has more than ${MOST_ENDPOINTS} endpoints`);
      const host = isIP(address) === 6 ? `[${address}]` : address;
      const one = new URL(`${url.protocol}//${host}${ports.includes(wanted) ? `:${wanted}` : ''}`);
      one.pathname = url.pathname;
      one.search = url.search; // a key may be in it
      urls.set(address, one);
    }
  }
  return [...urls.values()];
}

/** How endpoints are asked. */
export interface EndpointAsking {
  /** What their numbers are for. */
  readonly how: (typeof AGGREGATIONS)[number];
  readonly ask: (url: URL, signal: AbortSignal) => Promise<number>;
  /** Told how many were left out. */
  readonly note: (text: string) => void;
  /** When it aborts, endpoints that have not responded count as failed, and no more are asked. */
  readonly time: AbortSignal;
}

/**
 * What endpoints tell, five at a time; those that fail are left out of an average and a minimum.
 *
 * @throws the error of the first one where all fail; where one does, for a sum or a maximum
 */
export async function askEach(
  urls: readonly URL[],
  { how, ask, note, time }: EndpointAsking,
  signal: AbortSignal,
): Promise<readonly number[]> {
  if (urls.length === 0) throw new Error('the service has no endpoint that is ready');
  const values: number[] = [];
  const failures: unknown[] = [];
  const waiting = urls.values();
  const work = async () => {
    for (const url of waiting) {
      try {
        time.throwIfAborted();
        values.push(await raceAbort(ask(url, time), time));
      } catch (error) {
        signal.throwIfAborted();
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  if (values.length === 0) throw failures[0];
  if (failures.length === 0) return values;
  const missing = `${failures.length} of ${urls.length} endpoints have no value`;
  if (NEEDS_ALL.includes(how))
    throw new Error(`${missing}, without which there is no ${how}`, { cause: failures[0] });
  note(missing);
  return values;
}

/** What numbers, of which there is at least one, come to. */
export function aggregated(values: readonly number[], how: (typeof AGGREGATIONS)[number]): number {
  if (how === 'max') return values.reduce((most, value) => Math.max(most, value));
  if (how === 'min') return values.reduce((least, value) => Math.min(least, value));
  const sum = values.reduce((all, value) => all + value, 0);
  return how === 'sum' ? sum : sum / values.length;
}
