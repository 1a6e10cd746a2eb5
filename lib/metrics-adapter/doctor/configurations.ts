import { type Check, note, ok } from '#lib/doctor/check.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { NoPrometheusServer } from '../collectors/prometheus-collector.ts';
import {
  type ExaminedMetric,
  type ExaminedMetrics,
  failed,
  subjectOf,
  subjectOfHpa,
} from './examined-metrics.ts';

const NONE = 'no HPA has a metric that the autoscaler collects';
const NONE_CAN_BE = 'no configuration of a collected metric is valid';

/** Checks the annotations of HPAs that configure how their metrics are collected. */
export function configurations(examined: ExaminedMetrics): Check {
  return {
    name: 'metrics-configuration',
    title: 'Configurations of collected metrics',

    async run(context) {
      return await examined.withPlans(context, async ({ metrics, problems }) => {
        const wrong = problems.map(({ hpa, metric, error, isQuiet, meant }) => {
          const { namespace, name } = hpa;
          const subject = `${subjectOfHpa(hpa)}${metric === '' ? '' : ` ${metric}`}`;
          if (isQuiet) return note(subject, describeError(error));
          const names = { NAMESPACE: namespace, NAME: name };
          if (meant !== undefined) {
            const both = { CONFIGURED: metric, REQUESTED: meant };
            return failed(subject, describeError(error), { diagnosis: 'metric-misnamed', ...names, ...both });
          }
          const diagnosis =
            error instanceof NoPrometheusServer ? 'prometheus-server-missing' : 'metric-not-configured';
          return failed(subject, describeError(error), { diagnosis, ...names });
        });
        const notes = metrics.flatMap((one) => one.planned.notes.map((text) => note(subjectOf(one), text)));
        const seen =
          metrics.length === 0
            ? note('metrics', wrong.some(({ status }) => status === 'failed') ? NONE_CAN_BE : NONE)
            : ok('metrics', collected(metrics));
        return [...wrong, ...notes, seen];
      });
    },
  };
}

function collected(metrics: readonly ExaminedMetric[]): string {
  const hpas = new Set(metrics.map(({ hpa }) => hpa)).size;
  const ofHpas = hpas === 1 ? '1 HPA' : `${hpas} HPAs`;
  return metrics.length === 1
    ? `1 metric of ${ofHpas} is collected`
    : `${metrics.length} metrics of ${ofHpas} are collected`;
}
