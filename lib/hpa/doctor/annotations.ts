import { type Check, findingsOr, ok } from '#lib/doctor/check.ts';
import { autoMinSettings } from '../min-replicas/auto-min-settings.ts';
import { syncSchedule } from '../sync-schedule.ts';
import { type ExaminedHpas, failed } from './examination.ts';

/** Annotations of metrics have a check of their own. */
const SUBJECT =
  'annotations of the controller hpa (platform.stke/resync-period, autoscaling.stke.com/auto-min-replicas*)';

/** Checks that annotations of HPAs are valid. */
export function annotations(
  examined: ExaminedHpas,
  { syncPeriodMs }: { readonly syncPeriodMs: number },
): Check {
  return {
    name: 'hpa-annotations',
    title: 'Annotations of HorizontalPodAutoscalers',

    async run(context) {
      const hpas = await examined.all(context);
      if (hpas.length === 0) return findingsOr('hpas', [], hpas);
      const found = hpas.flatMap((hpa) => {
        const { namespace, name, annotations: own = {} } = hpa.metadata;
        const problems = [syncSchedule(hpa, syncPeriodMs).problem, autoMinSettings(own, 'recommend').problem];
        return problems.flatMap((problem) => {
          if (problem === undefined) return [];
          const names = { NAMESPACE: namespace, NAME: name };
          return failed(`hpa ${namespace}/${name}`, problem, {
            diagnosis: 'hpa-annotation-invalid',
            ...names,
          });
        });
      });
      if (found.length > 0) return found;
      const ofHpas = hpas.length === 1 ? '1 HPA' : `${hpas.length} HPAs`;
      return [ok(SUBJECT, `valid on ${ofHpas}`)];
    },
  };
}
