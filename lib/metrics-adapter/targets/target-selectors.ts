import * as z from 'zod';
import { LruMap } from '#lib/cache/lru-map.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { type ApiResource, collectionPath, objectPath } from '#lib/kubernetes/client/api-resource.ts';
import { listCollection } from '#lib/kubernetes/client/list-watch.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import type { ObjectName } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { selectorText } from '#lib/kubernetes/selectors/selector-object.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { DescribedObject } from '../collected-metrics.ts';

/** What reading selectors needs. */
interface TargetSelectorsOptions {
  readonly client: Pick<ApiClient, 'getJson'>;
  readonly mapper: Pick<RestMapper, 'find'>;
  readonly clock: Clock;
  /** A number in [0, 1): spreads reading selectors that were first read together. */
  readonly random: () => number;
}

/** What is to be scaled, in its namespace. */
interface Target extends DescribedObject {
  readonly namespace: string;
}

/** A selector changes when a workload is made again under its name: it is read after half of this to all of it. */
const MAX_CACHED_MS = 600_000;
/** One that is doubted is read again unless it is as new as this. */
const FRESH_MS = 60_000;
const MAX_KEPT = 10_000;

/** Workloads that are read themselves, by a permission that tells less than that to read any scale. */
const READ_ITSELF = new Set([
  'apps/deployments',
  'apps/statefulsets',
  'apps/replicasets',
  'argoproj.io/rollouts',
]);

const WORKLOAD = z.object({ spec: z.object({ selector: z.unknown() }) });
const SCALE = z.object({ status: z.object({ selector: z.string().min(1) }) });

interface KeptSelector {
  readonly selector: string;
  readonly readAtMs: number;
  readonly cachedForMs: number;
}

/** Knows which labels select the pods of workloads. */
export class TargetSelectors {
  readonly #options: TargetSelectorsOptions;
  readonly #kept = new LruMap<string, KeptSelector>({ max: MAX_KEPT });
  readonly #listed: ListedSelectors;

  constructor(options: TargetSelectorsOptions) {
    this.#options = options;
    this.#listed = new ListedSelectors(options);
  }

  /**
   * The selector of a workload; read again soon where it is doubted, as when it selects no pod.
   *
   * @throws an Error that names the workload and says why its pods cannot be told
   */
  async selectorOf(
    target: Target,
    { signal, isDoubted = false }: { readonly signal: AbortSignal; readonly isDoubted?: boolean },
  ): Promise<string> {
    const { clock, random } = this.#options;
    const { namespace, apiVersion = 'apps/v1', kind, name } = target;
    const key = JSON.stringify([namespace, apiVersion, kind, name]);
    const kept = this.#kept.peek(key);
    const maxAgeMs = isDoubted ? FRESH_MS : (kept?.cachedForMs ?? 0);
    if (kept && clock.monotonicMs() - kept.readAtMs < maxAgeMs) return kept.selector;
    try {
      const selector = await this.#read({ ...target, apiVersion }, signal);
      const cachedForMs = MAX_CACHED_MS * (1 - random() / 2);
      this.#kept.set(key, { selector, readAtMs: clock.monotonicMs(), cachedForMs });
      return selector;
    } catch (cause) {
      signal.throwIfAborted();
      throw new Error(`Cannot tell the pods of ${kind} ${namespace}/${name}`, { cause });
    }
  }

  async #read(target: Target & { readonly apiVersion: string }, signal: AbortSignal): Promise<string> {
    const { client, mapper } = this.#options;
    const resource = await mapper.find(target, signal);
    if (!resource) throw new Error(`the API server serves no ${target.kind} of ${target.apiVersion}`);
    const readItself = async () => {
      const read = WORKLOAD.safeParse(await client.getJson(objectPath(resource, target), { signal }));
      const selector = read.success ? selectorText(read.data.spec.selector) : undefined;
      if (selector === undefined) throw new Error('it has no selector');
      return selector;
    };
    if (isReadItself(resource)) {
      return await this.#listed.read({ ...target, resource }, { signal, readItself });
    }
    const read = SCALE.safeParse(await client.getJson(objectPath(resource, target, 'scale'), { signal }));
    if (!read.success) throw new Error('its scale has no selector');
    return read.data.status.selector;
  }
}

function isReadItself({ group, plural }: ApiResource): boolean {
  return READ_ITSELF.has(`${group}/${plural}`);
}

/** What listing needs. */
interface ListedSelectorsOptions {
  readonly client: Pick<ApiClient, 'getJson'>;
  readonly clock: Clock;
}

const LISTED_WORKLOAD = z.object({
  metadata: z.object({ namespace: z.string(), name: z.string() }),
  spec: z.object({ selector: z.unknown() }),
});
/** So many of a kind are read one by one at a time; when more are wanted, all are listed. */
const MAX_SINGLE_READS = 20;
const LIST_FRESH_MS = 10_000;
/** Where listing fails, as without the permission, it is tried again after this long. */
const RETRY_MS = 600_000;

interface Reading {
  underWay: number;
  listing:
    | { readonly begunAtMs: number; readonly selectors: Promise<ReadonlyMap<string, string>> }
    | undefined;
}

/**
 * Reads the selectors of a kind of workloads in one list where many are wanted at once, as when the program starts: the API
 * server takes so many requests a second and no more.
 */
export class ListedSelectors {
  readonly #options: ListedSelectorsOptions;
  readonly #readings = new Map<string, Reading>();
  readonly #failedAtMs = new Map<string, number>();

  constructor(options: ListedSelectorsOptions) {
    this.#options = options;
  }

  /**
   * Has a selector read by a list or, where there are few or the list has it not, by itself.
   *
   * @throws what `readItself` throws, and the signal's reason when that aborts
   */
  async read(
    workload: { readonly resource: ApiResource } & ObjectName,
    { signal, readItself }: { readonly signal: AbortSignal; readonly readItself: () => Promise<string> },
  ): Promise<string> {
    const path = collectionPath(workload.resource);
    const reading = this.#readings.get(path) ?? { underWay: 0, listing: undefined };
    this.#readings.set(path, reading);
    reading.underWay++;
    try {
      const listing = this.#listingOf(path, reading);
      const selectors = listing && (await raceAbort(listing, signal));
      return selectors?.get(`${workload.namespace}/${workload.name}`) ?? (await readItself());
    } finally {
      reading.underWay--;
      if (reading.underWay === 0) this.#readings.delete(path);
    }
  }

  #listingOf(path: string, reading: Reading): Promise<ReadonlyMap<string, string>> | undefined {
    if (reading.underWay <= MAX_SINGLE_READS) return undefined;
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - (this.#failedAtMs.get(path) ?? Number.NEGATIVE_INFINITY) < RETRY_MS) return undefined;
    if (!reading.listing || nowMs - reading.listing.begunAtMs > LIST_FRESH_MS)
      reading.listing = { begunAtMs: nowMs, selectors: this.#list(path) };
    return reading.listing.selectors;
  }

  /** @returns by `NAMESPACE/NAME`; nothing where listing fails */
  async #list(path: string): Promise<ReadonlyMap<string, string>> {
    const { client, clock } = this.#options;
    const selectors = new Map<string, string>();
    const visit = (object: unknown) => {
      const read = LISTED_WORKLOAD.safeParse(object);
      if (!read.success) return;
      const { metadata, spec } = read.data;
      const selector = selectorText(spec.selector);
      if (selector !== undefined) selectors.set(`${metadata.namespace}/${metadata.name}`, selector);
    };
    try {
      await listCollection(client, { path }, { visit });
    } catch {
      this.#failedAtMs.set(path, clock.monotonicMs());
    }
    return selectors;
  }
}
