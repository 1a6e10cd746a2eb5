import { ScaleClient, UnscalableTarget } from '#lib/control/scale-client.ts';
import { type Check, examineEach, type Finding, note, ok, uncheckedBy } from '#lib/doctor/check.ts';
import { type ApiContext, requiring } from '#lib/doctor/cluster-context.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import type { FollowedHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { type ExaminedHpas, failed } from './examination.ts';
import { missingRequest } from './missing-request.ts';

/** Whether what HPAs scale is there, can be scaled, and can be measured: one finding an HPA, the first that is wrong. */
export function targets(examined: ExaminedHpas): Check {
  return {
    name: 'hpa-targets',
    title: 'Targets of HorizontalPodAutoscalers',

    async run(context) {
      const hpas = await examined.all(context);
      const { client: api, mapper, clock } = context;
      const scales = new ScaleClient({ api, mapper, clock });
      return await examineEach(hpas, (hpa) => lookAt(hpa, { context, scales }));
    },
  };
}

async function lookAt(
  hpa: FollowedHpa,
  { context, scales }: { readonly context: ApiContext; readonly scales: ScaleClient },
): Promise<Finding> {
  const { namespace, name } = hpa.metadata;
  const { apiVersion = '', kind, name: targetName } = hpa.spec.scaleTargetRef;
  const subject = `hpa ${namespace}/${name}`;
  const described = `${kind} ${JSON.stringify(targetName)}`;
  const names = { NAMESPACE: namespace, NAME: name, KIND: kind, TARGET: targetName };
  try {
    const target = { namespace, apiVersion, kind, name: targetName };
    const scale = await requiring(`get ${kind}/scale`, () => scales.get(target, context.signal));
    const missing = await missingRequest(hpa, scale, context);
    if (missing) {
      const more = { ...names, RESOURCE: missing.resource };
      return failed(subject, missing.problem, { diagnosis: 'hpa-request-missing', ...more });
    }
    const active = hpa.status?.conditions?.find(({ type }) => type === 'ScalingActive');
    if (active?.status === 'False') {
      const seen = `${active.reason ?? 'no reason'}: ${active.message ?? 'no message'}`;
      if (active.reason === 'ScalingDisabled') return note(subject, seen);
      const others = active.reason === 'AmbiguousSelector' ? othersIn(seen, `${namespace}/${name}`) : '';
      if (others !== '')
        return failed(subject, seen, { diagnosis: 'hpa-ambiguous-selector', ...names, OTHERS: others });
      return failed(subject, seen, { diagnosis: 'hpa-cannot-decide', ...names });
    }
    return ok(subject, `scales ${described}, of which there are to be ${scale.specReplicas}`);
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof UnscalableTarget)
      return failed(subject, error.message, { diagnosis: 'hpa-target-not-scalable', ...names });
    if (isNotFound(error))
      return failed(subject, `there is no ${described}`, { diagnosis: 'hpa-target-missing', ...names });
    return uncheckedBy(subject, error);
  }
}

/** The other HPAs that a condition names: all that scale the same pods stand in brackets at its end. */
function othersIn(message: string, own: string): string {
  const [, named = ''] = /\[([^[\]]*)\]$/.exec(message) ?? [];
  const others = named.split(' ').filter((one) => one.includes('/') && one !== own);
  return others.join(', ');
}
