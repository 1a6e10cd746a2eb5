import * as z from 'zod/mini';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import type { Clock } from '#lib/time/clock.ts';

/** Says in the controller's words that nobody serves custom metrics. */
export const NO_CUSTOM_METRICS = 'no custom metrics API (custom.metrics.k8s.io) registered';

const GROUP = z.object({ versions: z.array(z.object({ version: z.string() })) });

/** Versions that are understood, the preferred one first. */
const KNOWN = ['v1beta2', 'v1beta1'];

/** The version is asked for again after this long; soon, where there was none. */
const MAX_AGE_MS = 600_000;
const ABSENT_AGE_MS = 15_000;

/** Knows in which version custom metrics are served. */
export class CustomMetricsApi {
  readonly #options: { readonly client: ApiClient; readonly clock: Clock };
  #known: { readonly version: string | undefined; readonly askedAtMs: number } | undefined;

  constructor(options: { readonly client: ApiClient; readonly clock: Clock }) {
    this.#options = options;
  }

  /** @returns `undefined` where none that is understood is served */
  async version(signal: AbortSignal): Promise<string | undefined> {
    const { client, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const known = this.#known;
    if (known && nowMs - known.askedAtMs < (known.version === undefined ? ABSENT_AGE_MS : MAX_AGE_MS)) {
      return known.version;
    }
    let version: string | undefined;
    try {
      const group = GROUP.safeParse(await client.getJson('/apis/custom.metrics.k8s.io', { signal }));
      const served = new Set(group.data?.versions.map((one) => one.version));
      version = KNOWN.find((one) => served.has(one));
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    this.#known = { version, askedAtMs: nowMs };
    return version;
  }
}
