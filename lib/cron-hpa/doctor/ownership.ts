import { type Check, type Finding, ok } from '#lib/doctor/check.ts';
import { ADJUST_HPA_MIN, type CronHpa } from '../cron-hpa.ts';
import { type Hpa, rivalOf, targetKey } from '../target-conflicts.ts';
import { type ExaminedCronHpas, failed, subjectOf } from './examination.ts';

/** Whether something else scales a target, too, and whether both can go together. */
export function ownership(examined: ExaminedCronHpas): Check {
  return {
    name: 'cronhpa-ownership',
    title: 'Who else scales targets of CronHorizontalPodAutoscalers',

    async run(context) {
      const objects = (await examined.readable(context)).map(({ object }) => object);
      const byTarget = Map.groupBy(objects, ({ namespace, spec }) =>
        targetKey(namespace, spec.scaleTargetRef),
      );
      const hpaOf = await examined.hpaFinder(context);
      return objects.flatMap((object) => {
        const { namespace, spec } = object;
        const rivals = byTarget.get(targetKey(namespace, spec.scaleTargetRef)) ?? [];
        const found = findingsOf(object, rivalOf(object, rivals), hpaOf(object));
        return found.length > 0
          ? found
          : [ok(subjectOf(object), 'agrees with whatever else scales its target')];
      });
    },
  };
}

function findingsOf(object: CronHpa, rival: CronHpa | undefined, hpa: Hpa | undefined): readonly Finding[] {
  const subject = subjectOf(object);
  const { kind, name } = object.spec.scaleTargetRef;
  const names = { NAMESPACE: object.namespace, NAME: object.name };
  const target = `${kind} ${JSON.stringify(name)}`;
  if (rival) {
    const seen = `cronhpa ${JSON.stringify(rival.name)} scales ${target}, too`;
    return [failed(subject, seen, { diagnosis: 'cronhpa-target-contended', ...names })];
  }
  if (!hpa) {
    const isAsked = object.annotations[ADJUST_HPA_MIN] === 'true' || kind === 'HorizontalPodAutoscaler';
    const seen = `no HorizontalPodAutoscaler scales ${target}`;
    return isAsked ? [failed(subject, seen, { diagnosis: 'cronhpa-hpa-missing', ...names })] : [];
  }
  if (hpa.controller?.kind === 'ScaledObject') {
    const seen = `HorizontalPodAutoscaler ${JSON.stringify(hpa.name)} belongs to ScaledObject ${JSON.stringify(hpa.controller.name)}`;
    return [failed(subject, seen, { diagnosis: 'cronhpa-hpa-owned', ...names })];
  }
  return object.spec.jobs
    .filter(({ targetSize }) => targetSize < 1)
    .map((job) => {
      const seen = `targetSize is 0, and HorizontalPodAutoscaler ${JSON.stringify(hpa.name)} scales ${target}`;
      return failed(subjectOf(object, job.name), seen, { diagnosis: 'cronhpa-size-zero', ...names });
    });
}
