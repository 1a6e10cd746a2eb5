import * as z from 'zod';
import { LruMap } from '#lib/cache/lru-map.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { type ApiResource, collectionPath, objectPath } from '#lib/kubernetes/client/api-resource.ts';
import { listCollection } from '#lib/kubernetes/client/list-watch.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import type { ObjectName } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { MAX_SELECTOR_LENGTH } from '#lib/kubernetes/selectors/label-selector.ts';
import { selectorText } from '#lib/kubernetes/selectors/selector-object.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { DescribedObject } from '../collected-metrics.ts';

interface TargetSelectorsOptions {
  readonly client: Pick<ApiClient, 'getJson'>;
  readonly mapper: Pick<RestMapper, 'find'>;
  readonly clock: Clock;
  /** A number in [0, 1): spreads the renewals of selectors that were first read together. */
  readonly random: () => number;
}

/** A scale target, with its namespace. */
interface Target extends DescribedObject {
  readonly namespace: string;
}

/** A selector changes when a workload is recreated: it is read again after half of this to all of it. */
const MAX_CACHED_MS = 600_000;
/** A doubted selector is read again unless it is newer than this. */
const FRESH_MS = 60_000;
const MAX_CACHED = 10_000;

/** Workloads that are read directly, since that permission exposes less than reading any scale. */
const READ_ITSELF = new Set([
  'apps/deployments',
  'apps/statefulsets',
  'apps/replicasets',
  'argoproj.io/rollouts',
]);

const WORKLOAD = z.object({ spec: z.object({ selector: z.unknown() }) });
const SCALE = z.object({ status: z.object({ selector: z.string().min(1) }) });

interface CachedSelector {
  readonly selector: string;
  readonly readAtMs: number;
  readonly cachedForMs: number;
}

/** Caches the label selectors of workloads. */
export class TargetSelectors {
  readonly #options: TargetSelectorsOptions;
  readonly #cached = new LruMap<string, CachedSelector>({ max: MAX_CACHED });
  readonly #listed: ListedSelectors;

  constructor(options: TargetSelectorsOptions) {
    this.#options = options;
    this.#listed = new ListedSelectors(options);
  }

  /**
   * The selector of a workload; a doubted one, for example one that matches no pod, is read again soon.
   *
   * @throws an Error with the workload and the cause
   */
  async selectorOf(
    target: Target,
    { signal, isDoubted = false }: { readonly signal: AbortSignal; readonly isDoubted?: boolean },
  ): Promise<string> {
    const { clock, random } = this.#options;
    const { namespace, apiVersion = 'apps/v1', kind, name } = target;
    const key = JSON.stringify([namespace, apiVersion, kind, name]);
    const cached = this.#cached.peek(key);
    const maxAgeMs = isDoubted ? FRESH_MS : (cached?.cachedForMs ?? 0);
    if (cached && clock.monotonicMs() - cached.readAtMs < maxAgeMs) return cached.selector;
    try {
      const selector = await this.#read({ ...target, apiVersion }, signal);
      if (selector.length > MAX_SELECTOR_LENGTH)
        throw new Error(`its selector has ${selector.length} characters, more than ${MAX_SELECTOR_LENGTH}`);
      const cachedForMs = MAX_CACHED_MS * (1 - random() / 2);
      this.#cached.set(key, { selector, readAtMs: clock.monotonicMs(), cachedForMs });
      return selector;
    } catch (cause) {
      signal.throwIfAborted();
      throw new Error(`Cannot find pods of ${kind} ${namespace}/${name}`, { cause });
    }
  }

  async #read(target: Target & { readonly apiVersion: string }, signal: AbortSignal): Promise<string> {
    const { client, mapper } = this.#options;
    const resource = await mapper.find(target, signal);
    if (!resource) throw new Error(`the API server does not serve ${target.kind} of ${target.apiVersion}`);
    const readItself = async () => {
      const read = WORKLOAD.safeParse(await client.getJson(objectPath(resource, target), { signal }));
      const selector = read.success ? selectorText(read.data.spec.selector) : undefined;
      if (selector === undefined) throw new Error('spec.selector is missing or invalid');
      return selector;
    };
    if (isReadItself(resource)) {
      return await this.#listed.read({ ...target, resource }, { signal, readItself });
    }
    const read = SCALE.safeParse(await client.getJson(objectPath(resource, target, 'scale'), { signal }));
    if (!read.success) throw new Error('the scale subresource has no status.selector');
    return read.data.status.selector;
  }
}

function isReadItself({ group, plural }: ApiResource): boolean {
  return READ_ITSELF.has(`${group}/${plural}`);
}

interface ListedSelectorsOptions {
  readonly client: Pick<ApiClient, 'getJson'>;
  readonly clock: Clock;
}

const LISTED_WORKLOAD = z.object({
  metadata: z.object({ namespace: z.string(), name: z.string() }),
  spec: z.object({ selector: z.unknown() }),
});
/** Maximum number of concurrent single reads of a kind; if more are needed, all are listed. */
const MAX_SINGLE_READS = 20;
const LIST_FRESH_MS = 10_000;
/** Delay after which a failed list, for example without permission, is retried. */
const RETRY_MS = 600_000;

interface Reading {
  underWay: number;
  listing:
    | { readonly begunAtMs: number; readonly selectors: Promise<ReadonlyMap<string, string>> }
    | undefined;
}

/**
 * Reads the selectors of a kind of workloads by one list when many are needed at once, as at the start: the API server
 * limits requests per second.
 */
export class ListedSelectors {
  readonly #options: ListedSelectorsOptions;
  readonly #readings = new Map<string, Reading>();
  readonly #failedAtMs = new Map<string, number>();

  constructor(options: ListedSelectorsOptions) {
    this.#options = options;
  }

  /**
   * Reads a selector by a list or, if few are needed or the list does not have it, directly.
   *
   * @throws the error of `readItself`, and the signal's reason when that aborts
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
      if (selector !== undefined && selector.length <= MAX_SELECTOR_LENGTH)
        selectors.set(`${metadata.namespace}/${metadata.name}`, selector);
    };
    try {
      await listCollection(client, { path }, { visit });
    } catch {
      this.#failedAtMs.set(path, clock.monotonicMs());
    }
    return selectors;
  }
}
