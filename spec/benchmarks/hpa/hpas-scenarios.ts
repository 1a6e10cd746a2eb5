import type { ScaledClusterOptions } from './scaled-cluster.ts';

/** HPAs, how often they are decided, and for how long that is watched. */
export interface HpasScenario extends ScaledClusterOptions {
  /** As the command line has it. */
  readonly name: string;
  /** In a few words. */
  readonly what: string;
  readonly syncPeriodMs: number;
  /** How many periods pass before measuring, and while it is. */
  readonly settlePeriods: number;
  readonly periods: number;
  /** How many HPAs get more load, one after another over one period. */
  readonly raised: number;
  /** More flags of the autoscaler. */
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

/** What `make bench ARGS=hpa` runs, and each by its name. */
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
