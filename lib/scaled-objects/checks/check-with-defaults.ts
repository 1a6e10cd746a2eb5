import type { ScaledObject } from '../objects/scaled-object.ts';
import { CheckFailure } from '../validation/check-failure.ts';
import { checkScaledObject, type Neighbours } from './check-scaled-object.ts';

/**
 * Checks an object, and asks for the defaults of its namespace only where they alone can make up for what containers do
 * not request.
 *
 * @throws {CheckFailure} for the first rule that is broken; what asking throws
 */
export async function checkWithDefaults(
  object: ScaledObject,
  neighbours: Omit<Neighbours, 'limitedByDefault'>,
  askDefaults: () => Promise<Neighbours['limitedByDefault']>,
): Promise<void> {
  try {
    checkScaledObject(object, { ...neighbours, limitedByDefault: [] });
  } catch (error) {
    if (!(error instanceof CheckFailure) || error.rule !== 'missing-requests') throw error;
    checkScaledObject(object, { ...neighbours, limitedByDefault: await askDefaults() });
  }
}
