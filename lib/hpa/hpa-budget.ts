import type { Observed } from '#lib/control/conditions.ts';
import {
  MAX_NAMESPACE_METRICS,
  METRICS_BUDGET,
  NamespaceBudget,
} from '#lib/kubernetes/informer/namespace-budget.ts';
import type { HpaCondition } from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';

/** Finds HPAs beyond the budget of their namespace. Those that fit stay, and the others fit once there is space. */
export class HpaBudget {
  readonly #metrics = new NamespaceBudget(METRICS_BUDGET);

  /** @returns why the HPA exceeds the budget; `undefined` if it fits */
  findExcess(key: string, hpa: Hpa): string | undefined {
    if (hpa.isReduced) {
      this.#metrics.delete(key);
      return hpa.omitted;
    }
    const count = hpa.spec.metrics?.length || 1;
    if (this.#metrics.fit(key, count) === count) return undefined;
    return `the HPAs of the namespace together have more than ${MAX_NAMESPACE_METRICS} metrics`;
  }

  delete(key: string): void {
    this.#metrics.delete(key);
  }
}

/** The condition of an HPA that is not decided, since it exceeds the budget of its namespace. */
export function excessCondition(message: string): Observed<HpaCondition> {
  return { type: 'ScalingActive', status: 'False', reason: 'NamespaceBudgetExceeded', message };
}
