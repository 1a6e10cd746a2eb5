import { type Check, findingsOr, ok } from '#lib/doctor/check.ts';
import { FIELD_MANAGER } from '../external-controllers.ts';
import { type ExaminedHpas, failed } from './examination.ts';

/** Checks that no other controller has written the status of an HPA recently. */
export function otherControllers(examined: ExaminedHpas, { latelyMs }: { readonly latelyMs: number }): Check {
  return {
    name: 'hpa-controllers',
    title: 'Controllers of HorizontalPodAutoscalers',

    async run(context) {
      const hpas = await examined.all(context);
      if (hpas.length === 0) return findingsOr('hpas', [], hpas);
      const nowMs = context.clock.nowMs();
      const found = hpas.flatMap(({ metadata: { namespace, name }, statusWriters }) => {
        const other = statusWriters.find(
          ({ manager, writtenAtMs }) => manager !== FIELD_MANAGER && nowMs - writtenAtMs < latelyMs,
        );
        if (!other) return [];
        const ago = Math.max(0, Math.round((nowMs - other.writtenAtMs) / 1000));
        const seen = `${other.manager} wrote the status of this HPA ${ago} s ago`;
        const names = { NAMESPACE: namespace, NAME: name, MANAGER: other.manager };
        return failed(`hpa ${namespace}/${name}`, seen, { diagnosis: 'hpa-controlled-elsewhere', ...names });
      });
      if (found.length > 0) return found;
      const ofHpas = hpas.length === 1 ? '1 HPA' : `${hpas.length} HPAs`;
      return [ok('hpas', `no other controller has written the status of ${ofHpas} recently`)];
    },
  };
}
