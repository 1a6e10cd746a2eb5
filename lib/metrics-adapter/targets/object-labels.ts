import * as z from 'zod';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { type ApiResource, objectPath } from '#lib/kubernetes/client/api-resource.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import { MAX_LABELS_BYTES, OMITTED_LABELS, sizeOfTexts } from '#lib/kubernetes/objects/text-size.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';

interface ObjectLabelsOptions {
  readonly client: Pick<ApiClient, 'getJson'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** An object with labels. */
export interface LabelledObject {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

const OBJECT = z.object({
  metadata: z.object({ labels: z.record(z.string(), z.string()).nullable().default({}) }),
});
/** Labels of an object rarely change. */
const FRESH_MS = 300_000;
const RETRY_MS = 60_000;

const UNREAD = 'Cannot read labels of object; selectors do not match its metrics';

interface CachedLabels {
  labels: Readonly<Record<string, string>> | undefined;
  readonly nextMs: number;
}

/** Caches the labels of the objects of HPAs' metrics, so that lists of their values support selectors. */
export class ObjectLabels {
  readonly #options: ObjectLabelsOptions;
  readonly #labels = new Map<string, CachedLabels>();
  readonly #failures: FailureLog;

  constructor(options: ObjectLabelsOptions) {
    this.#options = options;
    this.#failures = new FailureLog({
      logger: options.logger,
      failing: UNREAD,
      lineOf: () => ({ level: 'warning', message: UNREAD }),
    });
  }

  /** The cached labels; `undefined` if there are none. */
  labelsOf(object: LabelledObject): Readonly<Record<string, string>> | undefined {
    return this.#labels.get(keyOf(object))?.labels;
  }

  /** Reads the labels of an object, unless they are fresh. An object that cannot be read has none. */
  async refresh(
    object: LabelledObject,
    { resource, signal }: { readonly resource: ApiResource; readonly signal: AbortSignal },
  ): Promise<void> {
    const { client, clock } = this.#options;
    const cached = this.#labels.get(keyOf(object));
    const nowMs = clock.monotonicMs();
    if (cached && nowMs < cached.nextMs) return;
    try {
      const read = readAs(
        OBJECT,
        'the object',
        await client.getJson(objectPath(resource, object), { signal }),
      );
      const labels = read.metadata.labels ?? {};
      if (sizeOfTexts(labels) > MAX_LABELS_BYTES) throw new Error(`it has ${OMITTED_LABELS}`);
      this.#labels.set(keyOf(object), { labels, nextMs: nowMs + FRESH_MS });
      this.#failures.succeed();
    } catch (error) {
      signal.throwIfAborted();
      this.#labels.set(keyOf(object), { labels: undefined, nextMs: nowMs + RETRY_MS });
      const name = `${object.kind} ${object.namespace}/${object.name}`;
      this.#failures.fail(error, { object: name, error: describeError(error) });
    }
  }

  /** Evicts all other objects. */
  retainOnly(objects: Iterable<LabelledObject>): void {
    const present = new Set([...objects].map(keyOf));
    for (const key of this.#labels.keys()) if (!present.has(key)) this.#labels.delete(key);
  }
}

function keyOf({ group, kind, namespace, name }: LabelledObject): string {
  return JSON.stringify([group, kind, namespace, name]);
}
