import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import type { Clock } from '#lib/time/clock.ts';
import { type MetricValue, metricValues } from './metric-values.ts';
import { LONGEST_LIST_BYTES, READ_WITHIN_MS, SharedReads } from './shared-reads.ts';

const BOUNDS = { timeoutMs: READ_WITHIN_MS, maxResponseBytes: LONGEST_LIST_BYTES };
/** Of all lists together; each takes some 100 bytes. */
const MOST_VALUES = 200_000;

/** Reads values of the custom and external metrics APIs; HPAs that ask for the same share what was read. */
export class MetricValuesReader {
  readonly #client: ApiClient;
  readonly #lists: SharedReads<readonly MetricValue[]>;

  constructor({ client, clock }: { readonly client: ApiClient; readonly clock: Clock }) {
    this.#client = client;
    this.#lists = new SharedReads({
      ...{ clock, mostKept: MOST_VALUES },
      weigh: (values) => 1 + values.length,
    });
  }

  /**
   * @param path with its query
   * @throws what the API client throws, for everybody who waited for the same list
   */
  async of(
    path: string,
    asked: { readonly maxAgeMs: number; readonly signal: AbortSignal },
  ): Promise<readonly MetricValue[]> {
    const [, tenant = ''] = /\/namespaces\/([^/?]+)/.exec(path) ?? [];
    return await this.#lists.get(path, { ...asked, tenant }, async () =>
      metricValues(await this.#client.getJson(path, BOUNDS)),
    );
  }
}
