import { describeError } from '#lib/telemetry/logger.ts';
import type { TriggerSpec } from '../api/scaled-object.ts';
import type { TriggerTypes } from '../triggers/trigger-registry.ts';
import { MOST_WARNINGS } from './admission-review.ts';

/**
 * What is said of the types of triggers that there are not: of each once, and of no more than are told, for the text names all
 * types that there are, and triggers are as many as their author likes.
 */
export function unknownTypes(
  triggers: readonly TriggerSpec[],
  types: Pick<TriggerTypes, 'get'>,
): readonly string[] {
  const warnings: string[] = [];
  for (const type of new Set(triggers.map((trigger) => trigger.type))) {
    try {
      types.get(type);
    } catch (error) {
      warnings.push(describeError(error));
      if (warnings.length === MOST_WARNINGS) break;
    }
  }
  return warnings;
}
