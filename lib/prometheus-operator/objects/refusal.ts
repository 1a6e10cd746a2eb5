/** Why an object is left out of a configuration; the message is for its author. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** @throws {Refusal} always */
export function refuse(reason: string): never {
  throw new Refusal(reason);
}

/** Runs a part of a check, and puts the name of the part before the reason of a {@link Refusal}. */
export function within<T>(part: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw error instanceof Refusal ? new Refusal(`${part}: ${error.message}`) : error;
  }
}

/**
 * Converts all items of a list, so that the author of an object reads about all that is wrong at once.
 *
 * @throws {Refusal} with the reasons of all items that are refused
 */
export function mapAll<Item, Result>(
  items: readonly Item[],
  convert: (item: Item, index: number) => Result,
): readonly Result[] {
  const results: Result[] = [];
  const reasons: string[] = [];
  for (const [index, item] of items.entries()) {
    try {
      results.push(convert(item, index));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      reasons.push(error.message);
    }
  }
  if (reasons.length > 0) refuse(reasons.join('; '));
  return results;
}
