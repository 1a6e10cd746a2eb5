import { formatThousandths, parseThousandths } from '#lib/kubernetes/exact-quantity.ts';
import type { MetricExplanation } from '../decision/decision.ts';

/** Beyond which values a metric would ask for another number of replicas than there is. */
export interface MetricThresholds {
  /** Percent, or a quantity as the target is one. */
  readonly scalesUpAbove: string;
  readonly scalesDownBelow: string;
}

/** Works out where the tolerance of a metric ends; values that are no mean are of the metric itself. */
export function metricThresholds({ target, proposal }: MetricExplanation): MetricThresholds | undefined {
  if (!target || !proposal) return undefined;
  const { scaleUp, scaleDown } = proposal.tolerances;
  const { averageUtilization } = target;
  const amount = target.averageValue ?? target.value;
  if (amount !== undefined) {
    const thousandths = Number(parseThousandths(amount));
    const most = BigInt(Math.floor(thousandths * (1 + scaleUp)));
    const least = BigInt(Math.ceil(Math.max(0, thousandths * (1 - scaleDown))));
    return { scalesUpAbove: formatThousandths(most), scalesDownBelow: formatThousandths(least) };
  }
  if (averageUtilization === undefined) return undefined;
  return {
    scalesUpAbove: `${Math.floor(averageUtilization * (1 + scaleUp) + PRECISION)}%`,
    scalesDownBelow: `${Math.ceil(Math.max(0, averageUtilization * (1 - scaleDown)) - PRECISION)}%`,
  };
}

/** What floating-point numbers add to a product. */
const PRECISION = 1e-9;
