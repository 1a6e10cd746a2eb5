import { LineBudgets } from '#lib/telemetry/line-budget.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { nameOfKey } from '../objects/kubernetes-object.ts';
import type { ObjectChange } from './object-store.ts';

/** An object as an informer caches it, or what is left of one beyond its bound. */
interface OmittableObject {
  /** Why parts are not cached; absent if they are. */
  readonly omitted?: string | undefined;
}

interface LogOmittedOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  readonly kind: string;
  readonly message: string;
}

/** Per hour, kind and namespace. */
const MAX_OMITTED_LINES = 10;

/** Logs each object of which parts are not cached, when that begins or its cause changes. */
export function logOmitted(
  objects: { onChange(listener: (change: ObjectChange<OmittableObject>) => void): () => void },
  { logger, clock, kind, message }: LogOmittedOptions,
): void {
  const budgets = new LineBudgets(clock, MAX_OMITTED_LINES);
  objects.onChange(({ key, previous, current }) => {
    if (current?.omitted === undefined || current.omitted === previous?.omitted) return;
    const line = budgets.of(nameOfKey(key).namespace ?? '').take(true);
    if (line) logger.warning(message, { kind, object: key, why: current.omitted, ...line });
  });
}
