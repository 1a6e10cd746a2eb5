import { parseNanos } from '#lib/kubernetes/exact-quantity.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { HpaBehavior } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { HpaConfig } from '../decision/decision-input.ts';

/** How far below and above its target a metric may be, as parts of it, before it scales. */
export interface Tolerances {
  readonly scaleDown: number;
  readonly scaleUp: number;
}

/** The tolerances of an HPA: its own where the feature is on and it has some, else the controller's. */
export function tolerancesOf(behavior: HpaBehavior | undefined, config: HpaConfig): Tolerances {
  const { tolerance, configurableTolerance } = config;
  if (!configurableTolerance || !behavior) return { scaleDown: tolerance, scaleUp: tolerance };
  return {
    scaleDown: toNumber(behavior.scaleDown?.tolerance) ?? tolerance,
    scaleUp: toNumber(behavior.scaleUp?.tolerance) ?? tolerance,
  };
}

/** Whether a ratio of value to target is close enough to 1; what is not a number is not. */
export function isWithin(ratio: number, { scaleDown, scaleUp }: Tolerances): boolean {
  return 1 - scaleDown <= ratio && ratio <= 1 + scaleUp;
}

/** Kubernetes multiplies the digits by a power of ten, which may differ in the last bit from the nearest number. */
function toNumber(quantity: string | undefined): number | undefined {
  if (quantity === undefined) return undefined;
  const digits = /^(\d{1,15})([num]?)$/.exec(quantity);
  if (!digits) return Number(parseNanos(quantity)) / 1e9;
  return Number(digits[1]) * (getOwn(POWERS, digits[2] ?? '') ?? 1);
}

const POWERS: Readonly<Record<string, number>> = { m: 1e-3, u: 1e-6, n: 1e-9 };
