import * as z from 'zod/mini';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { type ApiResource, objectPath } from '#lib/kubernetes/client/api-resource.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { selectorText } from '#lib/kubernetes/selectors/selector-object.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { DescribedObject } from '../annotations/collected-metrics.ts';
import { ListedSelectors } from './listed-selectors.ts';

/** What reading selectors needs. */
export interface TargetSelectorsOptions {
  readonly client: Pick<ApiClient, 'getJson'>;
  readonly mapper: Pick<RestMapper, 'find'>;
  readonly clock: Clock;
  /** A number in [0, 1): spreads reading selectors that were first read together. */
  readonly random: () => number;
}

/** What is to be scaled, in its namespace. */
export interface Target extends DescribedObject {
  readonly namespace: string;
}

/** A selector changes when a workload is made again under its name: it is read after half of this to all of it. */
const LONGEST_KEPT_MS = 600_000;
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
const SCALE = z.object({ status: z.object({ selector: z.string().check(z.minLength(1)) }) });

interface KeptSelector {
  readonly selector: string;
  readonly readAtMs: number;
  readonly keptForMs: number;
}

/** Knows which labels select the pods of workloads. */
export class TargetSelectors {
  readonly #options: TargetSelectorsOptions;
  readonly #kept = new Map<string, KeptSelector>();
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
    const kept = this.#kept.get(key);
    const maxAgeMs = isDoubted ? FRESH_MS : (kept?.keptForMs ?? 0);
    if (kept && clock.monotonicMs() - kept.readAtMs < maxAgeMs) return kept.selector;
    try {
      const selector = await this.#read({ ...target, apiVersion }, signal);
      this.#kept.delete(key);
      const keptForMs = LONGEST_KEPT_MS * (1 - random() / 2);
      this.#kept.set(key, { selector, readAtMs: clock.monotonicMs(), keptForMs });
      const [oldest] = this.#kept.keys();
      if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
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
