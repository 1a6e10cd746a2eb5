import type { ScaledClusterOptions } from './scaled-cluster.ts';

/** Number of HPAs, how often they are evaluated, and for how long. */
export interface HpasScenario extends ScaledClusterOptions {
  /** Name on the command line. */
  readonly name: string;
  /** Short description. */
  readonly what: string;
  readonly syncPeriodMs: number;
  /** Number of sync periods before and during the measurement. */
  readonly settlePeriods: number;
  readonly periods: number;
  /** Number of HPAs with raised load, evenly distributed over one period. */
  readonly raised: number;
  /** Additional flags of the autoscaler. */
  readonly flags?: readonly string[];
}

const MANY_PODS = { podsPerHpa: 10, namespaces: 50 };
const MANY_HPAS = {
  hpas: 5000,
  syncPeriodMs: 15_000,
  settlePeriods: 1,
  periods: 2,
  raised: 250,
  ...MANY_PODS,
};

/** Scenarios that `make bench ARGS=hpa` runs; each can be selected by name. */
export const HPAS_SCENARIOS: readonly HpasScenario[] = [
  {
    ...{ name: 'hpa-5000', what: '5,000 every 15 s; the usage of one fifth changes' },
    ...{ ...MANY_HPAS, wanderingPercent: 20 },
  },
  {
    ...{ name: 'hpa-1000', what: '1,000 every 5 s; the usage of one fifth changes' },
    ...{ hpas: 1000, syncPeriodMs: 5000, settlePeriods: 3, periods: 6, raised: 100 },
    ...{ ...MANY_PODS, wanderingPercent: 20 },
  },
  {
    ...{ name: 'hpa-changing', what: '5,000 every 15 s; the usage of all changes' },
    ...{ ...MANY_HPAS, wanderingPercent: 100 },
  },
];
