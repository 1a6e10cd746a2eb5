import * as z from 'zod';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { type ApiResource, objectPath } from '#lib/kubernetes/client/api-resource.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { FailureLog } from '#lib/telemetry/failure-log.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';

/** What knowing labels needs. */
interface ObjectLabelsOptions {
  readonly client: Pick<ApiClient, 'getJson'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** An object that has labels. */
export interface LabelledObject {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

const OBJECT = z.object({
  metadata: z.object({ labels: z.record(z.string(), z.string()).nullable().default({}) }),
});
/** Labels of an object change seldom. */
const FRESH_MS = 300_000;
const RETRY_MS = 60_000;

const UNREAD = 'The labels of an object cannot be read, so that no selector selects its metrics';

interface Known {
  labels: Readonly<Record<string, string>> | undefined;
  readonly nextMs: number;
}

/** Knows the labels of the objects that HPAs' metrics describe, so that lists of their values can be selected from. */
export class ObjectLabels {
  readonly #options: ObjectLabelsOptions;
  readonly #known = new Map<string, Known>();
  readonly #failures: FailureLog;

  constructor(options: ObjectLabelsOptions) {
    this.#options = options;
    this.#failures = new FailureLog({
      logger: options.logger,
      failing: UNREAD,
      lineOf: () => ({ level: 'warning', message: UNREAD }),
    });
  }

  /** What is known now; `undefined` where that is nothing. */
  labelsOf(object: LabelledObject): Readonly<Record<string, string>> | undefined {
    return this.#known.get(keyOf(object))?.labels;
  }

  /** Has the labels of an object read, unless they were lately. An object that cannot be read has none that are known. */
  async refresh(
    object: LabelledObject,
    { resource, signal }: { readonly resource: ApiResource; readonly signal: AbortSignal },
  ): Promise<void> {
    const { client, clock } = this.#options;
    const known = this.#known.get(keyOf(object));
    const nowMs = clock.monotonicMs();
    if (known && nowMs < known.nextMs) return;
    try {
      const read = readAs(
        OBJECT,
        'the object',
        await client.getJson(objectPath(resource, object), { signal }),
      );
      this.#known.set(keyOf(object), { labels: read.metadata.labels ?? {}, nextMs: nowMs + FRESH_MS });
      this.#failures.succeed();
    } catch (error) {
      signal.throwIfAborted();
      this.#known.set(keyOf(object), { labels: undefined, nextMs: nowMs + RETRY_MS });
      const name = `${object.kind} ${object.namespace}/${object.name}`;
      this.#failures.fail(error, { object: name, error: describeError(error) });
    }
  }

  /** Forgets objects that nobody asks for any more. */
  keepOnly(objects: Iterable<LabelledObject>): void {
    const wanted = new Set([...objects].map(keyOf));
    for (const key of this.#known.keys()) if (!wanted.has(key)) this.#known.delete(key);
  }
}

function keyOf({ group, kind, namespace, name }: LabelledObject): string {
  return JSON.stringify([group, kind, namespace, name]);
}
