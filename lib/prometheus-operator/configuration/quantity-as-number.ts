import { Quantity } from '#lib/kubernetes/quantity.ts';
import { refuse } from '../objects/refusal.ts';

/**
 * A quantity such as `500m` as a number.
 *
 * @throws {Refusal} for another text
 */
export function quantityAsNumber(quantity: string | number): number {
  const parsed = Quantity.parse(String(quantity));
  return parsed === undefined ? refuse('not a quantity') : Number(parsed.nanos) / 1e9;
}
