import { controllerReference } from '#lib/control/owner-references.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import { formatApiVersion } from '#lib/kubernetes/client/api-resource.ts';
import { API_VERSION, createdLabels, LAST_APPLIED, MAX_LABEL_LENGTH, NAME_LABEL } from '../api/resources.ts';
import type { ScaledObject } from '../api/scaled-object.ts';
import { formatAmount, formatTruncated } from '../metrics/external-metrics.ts';
import type { PreparedScaledObject } from '../preparation/prepared-scaled-object.ts';
import type { PreparedTriggers } from '../preparation/prepared-triggers.ts';
import { COMPOSITE_METRIC } from '../preparation/scaling-modifiers.ts';

/** The fields that server-side apply sets; fields of other clients are retained. */
export interface DesiredHpa {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences: readonly object[];
  };
  readonly spec: object;
}

interface DesiredHpaOptions {
  readonly prepared: PreparedScaledObject;
  readonly plan: PreparedTriggers;
  /** Served version of the target's kind. */
  readonly resource: ApiResource;
  /** Version of this program. */
  readonly version: string;
}

const ORDER = ['ContainerResource', 'External', 'Resource'];

/** The HPA of a ScaledObject. @throws an Error if its triggers have no metric */
export function desiredHpa(object: ScaledObject, options: DesiredHpaOptions): DesiredHpa {
  const { metadata } = object;
  const { annotations: settings, hpaName: name, target, bounds } = options.prepared;
  const { [LAST_APPLIED]: _, ...annotations } = metadata.annotations ?? {};
  const behavior = behaviorOf(object, settings);
  return {
    metadata: {
      name,
      namespace: metadata.namespace ?? '',
      labels: labelsOf(object, { name, excluded: settings.excludedLabels, version: options.version }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ownerReferences: [controllerReference({ ...object, apiVersion: API_VERSION, kind: 'ScaledObject' })],
    },
    spec: {
      scaleTargetRef: {
        apiVersion: formatApiVersion(options.resource),
        kind: options.resource.kind,
        name: target.ref.name,
      },
      minReplicas: bounds.hpaMin,
      maxReplicas: bounds.max,
      metrics: metricsOf(object, options),
      ...(behavior && { behavior }),
    },
  };
}

function labelsOf(
  { metadata }: ScaledObject,
  { name, excluded, version }: { name: string; excluded: readonly string[]; version: string },
) {
  const own = Object.entries(metadata.labels ?? {}).filter(([key]) => !excluded.includes(key));
  return {
    'app.kubernetes.io/name': labelOf(name),
    ...createdLabels(metadata.name, version),
    ...Object.fromEntries(own),
  };
}

/** Truncates a name to a valid label value: at most 63 characters, ending with a letter or digit. */
function labelOf(name: string): string {
  let end = Math.min(name.length, MAX_LABEL_LENGTH);
  while (end > 0 && !/[a-zA-Z0-9]/.test(name[end - 1] ?? '')) end--;
  return name.slice(0, end);
}

function behaviorOf(
  { spec }: ScaledObject,
  { isScaleInPaused, isScaleOutPaused }: PreparedScaledObject['annotations'],
): object | undefined {
  const { behavior } = spec.advanced?.horizontalPodAutoscalerConfig ?? {};
  if (!isScaleInPaused && !isScaleOutPaused) return behavior;
  const disabled = { selectPolicy: 'Disabled' };
  return {
    ...behavior,
    ...(isScaleInPaused && { scaleDown: { ...behavior?.scaleDown, ...disabled } }),
    ...(isScaleOutPaused && { scaleUp: { ...behavior?.scaleUp, ...disabled } }),
  };
}

function metricsOf(
  { metadata, spec }: ScaledObject,
  { plan, prepared: { modifiers } }: DesiredHpaOptions,
): readonly object[] {
  const selector = { matchLabels: { [NAME_LABEL]: metadata.name } };
  const external = (name: string, type: 'AverageValue' | 'Value', amount: string) => ({
    type: 'External',
    external: {
      metric: { name, selector },
      target: type === 'Value' ? { type, value: amount } : { type, averageValue: amount },
    },
  });
  const composite = modifiers && [
    external(COMPOSITE_METRIC, modifiers.metricType, formatTruncated(modifiers.target)),
  ];
  const metrics = plan.triggers.flatMap(({ metrics: planned, resource }): { type: string }[] => {
    if (!resource)
      return composite
        ? []
        : planned.map((one) => external(one.metricName, one.targetType, formatAmount(one.target)));
    const { resource: name, containerName: container, target } = resource;
    if (container === undefined)
      return [{ type: 'Resource', resource: { name, target } } as { type: string }];
    return [
      { type: 'ContainerResource', containerResource: { name, container, target } } as { type: string },
    ];
  });
  const all = [...(composite ?? []), ...metrics].sort(
    (a, b) => ORDER.indexOf(a.type) - ORDER.indexOf(b.type),
  );
  if (all.length > 0) return all;
  const { namespace, name } = metadata;
  throw new Error(
    `no metric specs returned from scalers for ScaledObject ${namespace}/${name}${spec.triggers.length === 0 ? ': it has no triggers' : ''}`,
  );
}
