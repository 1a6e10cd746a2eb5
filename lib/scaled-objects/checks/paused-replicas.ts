import { PAUSED_REPLICAS, requestsOf } from '../objects/annotations.ts';
import type { ScaledObject } from '../objects/scaled-object.ts';
import { CheckFailure, STEPS } from '../validation/check-failure.ts';

const MOST_REPLICAS = 2 ** 31 - 1;

/**
 * How many replicas the target of a paused object is to have; `undefined` where it is left as it is.
 *
 * @throws {CheckFailure} for a text that is no number of replicas
 */
export function pausedReplicasOf(object: ScaledObject): number | undefined {
  const { pausedReplicas: text } = requestsOf(object);
  if (text === undefined) return undefined;
  const replicas = Number(text);
  if (!/^\d{1,10}$/.test(text) || replicas > MOST_REPLICAS)
    throw new CheckFailure(
      STEPS.pausedReplicas,
      `value "${text.slice(0, 100)}" of annotation ${PAUSED_REPLICAS} is no number of replicas`,
    );
  return replicas;
}
