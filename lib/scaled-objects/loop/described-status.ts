import { hpaNameOf, type ScaledObject, type ScaledObjectStatus } from '../objects/scaled-object.ts';
import type { Prepared } from '../scaling/ensure-hpa.ts';
import { kindText } from '../scaling/scale-target.ts';
import { plannedMetrics } from '../triggers/planned-object.ts';
import { COMPOSITE_METRIC } from '../values/modifiers.ts';

/** What the status says of the object apart from how its triggers are. */
export function describedStatus(
  object: ScaledObject,
  { plan, target, isRetargeted }: Pick<Prepared, 'plan' | 'target' | 'isRetargeted'>,
): ScaledObjectStatus {
  const { status = {}, spec } = object;
  const { health: _, pausedReplicaCount: _paused, ...before } = status;
  const { group, version, kind, plural } = target.resource;
  const isFirst = isRetargeted || status.scaleTargetKind !== kindText(object);
  const resources = plan.triggers.flatMap(({ resource }) => (resource ? [resource.resource] : []));
  const authentications = spec.triggers.flatMap(({ authenticationRef }) => authenticationRef?.name ?? []);
  const { compositeScalerName: _composite, ...rest } = before;
  return {
    ...rest,
    scaleTargetKind: kindText(object),
    scaleTargetGVKR: { group, version, kind, resource: plural },
    originalReplicaCount: isFirst ? target.replicas : (status.originalReplicaCount ?? target.replicas),
    externalMetricNames: plannedMetrics(plan).map(({ metricName }) => metricName),
    resourceMetricNames: resources,
    ...(spec.advanced?.scalingModifiers?.formula && { compositeScalerName: COMPOSITE_METRIC }),
    hpaName: hpaNameOf(object),
    triggersTypes: [...new Set(spec.triggers.map(({ type }) => type))].join(','),
    authenticationsTypes: [...new Set(authentications)].join(','),
  };
}
