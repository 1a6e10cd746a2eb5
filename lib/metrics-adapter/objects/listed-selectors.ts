import * as z from 'zod/mini';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { type ApiResource, collectionPath } from '#lib/kubernetes/client/api-resource.ts';
import { listCollection } from '#lib/kubernetes/client/list-watch.ts';
import type { ObjectName } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { selectorText } from '#lib/kubernetes/selectors/selector-object.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { Clock } from '#lib/time/clock.ts';

/** What listing needs. */
export interface ListedSelectorsOptions {
  readonly client: Pick<ApiClient, 'getJson'>;
  readonly clock: Clock;
}

const WORKLOAD = z.object({
  metadata: z.object({ namespace: z.string(), name: z.string() }),
  spec: z.object({ selector: z.unknown() }),
});
/** So many of a kind are read one by one at a time; when more are wanted, all are listed. */
const MOST_SINGLE = 20;
const FRESH_MS = 10_000;
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
    if (reading.underWay <= MOST_SINGLE) return undefined;
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs - (this.#failedAtMs.get(path) ?? Number.NEGATIVE_INFINITY) < RETRY_MS) return undefined;
    if (!reading.listing || nowMs - reading.listing.begunAtMs > FRESH_MS)
      reading.listing = { begunAtMs: nowMs, selectors: this.#list(path) };
    return reading.listing.selectors;
  }

  /** @returns by `NAMESPACE/NAME`; nothing where listing fails */
  async #list(path: string): Promise<ReadonlyMap<string, string>> {
    const { client, clock } = this.#options;
    const selectors = new Map<string, string>();
    const visit = (object: unknown) => {
      const read = WORKLOAD.safeParse(object);
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
