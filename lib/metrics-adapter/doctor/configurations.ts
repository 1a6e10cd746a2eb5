import type { Check } from '#lib/doctor/check.ts';
import { note, ok } from '#lib/doctor/finding.ts';
import { describeError } from '#lib/telemetry/logger.ts';
import { failed } from './diagnoses.ts';
import { type ExaminedMetrics, subjectOf, subjectOfHpa } from './examined-metrics.ts';

/** Whether the annotations of HPAs can be read that say how their metrics are collected. */
export function configurations(examined: ExaminedMetrics): Check {
  return {
    name: 'metrics-configuration',
    title: 'Metrics that HPAs have collected',

    async run(context) {
      return await examined.look(context, async ({ hpas, metrics, problems }) => {
        const wrong = problems.map(({ hpa, metric, error, isQuiet, meant }) => {
          const { namespace, name } = hpa;
          const subject = `${subjectOfHpa(hpa)}${metric === '' ? '' : ` ${metric}`}`;
          if (isQuiet) return note(subject, describeError(error));
          const names = { NAMESPACE: namespace, NAME: name };
          if (meant !== undefined) {
            const both = { CONFIGURED: metric, ASKED: meant };
            return failed(subject, describeError(error), { diagnosis: 'metric-misnamed', ...names, ...both });
          }
          return failed(subject, describeError(error), { diagnosis: 'metric-not-configured', ...names });
        });
        const notes = metrics.flatMap((one) => one.planned.notes.map((text) => note(subjectOf(one), text)));
        const seen =
          metrics.length === 0
            ? note('metrics', 'no HPA has a metric that is collected here')
            : ok('metrics', `${metrics.length} metrics of ${hpas} HPAs are collected`);
        return [...wrong, ...notes, seen];
      });
    },
  };
}
