import { type Check, type Finding, findingsOr, ok } from '#lib/doctor/check.ts';
import { adjustmentOf, adjustmentProblem, type CronHpa, needsHpa } from '../cron-hpa.ts';
import { findConflict, type Hpa, hasOwner, qualifiedKind, targetKey } from '../target-conflicts.ts';
import { type ExaminedCronHpas, failed, OBJECTS, subjectOf } from './examination.ts';

/** Checks that no other scaler conflicts with an object. */
export function ownership(examined: ExaminedCronHpas): Check {
  return {
    name: 'cronhpa-ownership',
    title: 'Conflicts of CronHorizontalPodAutoscalers',

    async run(context) {
      const objects = (await examined.readable(context)).map(({ object }) => object);
      const byTarget = Map.groupBy(objects, ({ namespace, spec }) =>
        targetKey(namespace, spec.scaleTargetRef),
      );
      const hpaOf = await examined.hpaFinder(context);
      const all = objects.flatMap((object) => {
        const { namespace, spec } = object;
        const candidates = byTarget.get(targetKey(namespace, spec.scaleTargetRef)) ?? [];
        const found = [
          ...annotationFindings(object),
          ...findingsOf(object, findConflict(object, candidates), hpaOf(object)),
        ];
        return found.length > 0 ? found : [ok(subjectOf(object), 'no conflict with another scaler')];
      });
      return findingsOr(OBJECTS, all, await examined.all(context));
    },
  };
}

function annotationFindings(object: CronHpa): readonly Finding[] {
  const problem = adjustmentProblem(object);
  if (problem === undefined) return [];
  const names = { NAMESPACE: object.namespace, NAME: object.name };
  return [failed(subjectOf(object), problem, { diagnosis: 'cronhpa-annotation-invalid', ...names })];
}

function findingsOf(
  object: CronHpa,
  conflicting: CronHpa | undefined,
  hpa: Hpa | undefined,
): readonly Finding[] {
  const subject = subjectOf(object);
  const { kind, name } = object.spec.scaleTargetRef;
  const names = { NAMESPACE: object.namespace, NAME: object.name };
  const target = `${kind} ${JSON.stringify(name)}`;
  if (conflicting) {
    const finding = `${qualifiedKind('cronhpa', object, conflicting)} ${JSON.stringify(conflicting.name)} also scales ${target}`;
    return [failed(subject, finding, { diagnosis: 'cronhpa-target-contended', ...names })];
  }
  if (!hpa) {
    const finding = `no HorizontalPodAutoscaler scales ${target}`;
    return needsHpa(object) ? [failed(subject, finding, { diagnosis: 'cronhpa-hpa-missing', ...names })] : [];
  }
  if (adjustmentOf(object) === 'false') {
    const finding = `HorizontalPodAutoscaler ${JSON.stringify(hpa.name)} scales ${target}, and the annotation forbids setting its minReplicas`;
    return [failed(subject, finding, { diagnosis: 'cronhpa-hpa-not-adjusted', ...names })];
  }
  if (hpa.controller && hasOwner(hpa)) {
    const finding = `HorizontalPodAutoscaler ${JSON.stringify(hpa.name)} is managed by ScaledObject ${JSON.stringify(hpa.controller.name)}`;
    return [failed(subject, finding, { diagnosis: 'cronhpa-hpa-owned', ...names })];
  }
  return object.spec.jobs
    .filter(({ targetSize }) => targetSize < 1)
    .map((job) => {
      const finding = `targetSize is 0, and HorizontalPodAutoscaler ${JSON.stringify(hpa.name)} scales ${target}`;
      return failed(subjectOf(object, job.name), finding, { diagnosis: 'cronhpa-size-zero', ...names });
    });
}
