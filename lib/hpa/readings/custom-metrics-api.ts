import * as z from 'zod/mini';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import type { Clock } from '#lib/time/clock.ts';
import { READ_WITHIN_MS, SharedReads } from './shared-reads.ts';

/** Says in the controller's words that nobody serves custom metrics. */
export const NO_CUSTOM_METRICS = 'no custom metrics API (custom.metrics.k8s.io) registered';

const GROUP = z.object({ versions: z.array(z.object({ version: z.string() })) });

/** Versions that are understood, the preferred one first. */
export const CUSTOM_METRICS_VERSIONS: readonly string[] = ['v1beta2', 'v1beta1'];

/** The version is asked for again after this long; soon, where there was none. */
const MAX_AGE_MS = 600_000;
const ABSENT_AGE_MS = 15_000;

/** Knows in which version custom metrics are served. */
export class CustomMetricsApi {
  readonly #client: ApiClient;
  readonly #versions: SharedReads<string | undefined>;
  #isAbsent = false;

  constructor({ client, clock }: { readonly client: ApiClient; readonly clock: Clock }) {
    this.#client = client;
    this.#versions = new SharedReads({ clock });
  }

  /** @returns `undefined` where none that is understood is served */
  async version(signal: AbortSignal): Promise<string | undefined> {
    const maxAgeMs = this.#isAbsent ? ABSENT_AGE_MS : MAX_AGE_MS;
    const version = await this.#versions.get('', { maxAgeMs, signal }, () => this.#ask());
    this.#isAbsent = version === undefined;
    return version;
  }

  async #ask(): Promise<string | undefined> {
    try {
      const response = await this.#client.getJson('/apis/custom.metrics.k8s.io', {
        timeoutMs: READ_WITHIN_MS,
      });
      const group = GROUP.safeParse(response);
      const served = new Set(group.data?.versions.map((one) => one.version));
      return CUSTOM_METRICS_VERSIONS.find((one) => served.has(one));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}
