import { type Check, type Finding, note, ok } from '#lib/doctor/check.ts';
import type { ClusterContext } from '#lib/doctor/cluster-context.ts';
import { availabilityOf, readApiService } from '#lib/doctor/read-api-service.ts';
import {
  type ExaminedMetric,
  type ExaminedMetrics,
  type ExaminedPlans,
  failed,
  groupOf,
  isDiscovered,
  METRICS_VERSIONS,
  type MetricsGroup,
  respondingVersion,
} from './examined-metrics.ts';

interface Registered {
  readonly name: string;
  /** Such as `kube-system/autoscaler`. */
  readonly service: string;
  /** Why it is not available; `undefined` where it is. */
  readonly unavailable: string | undefined;
}

/** Checks that the API server routes requests for the collected metrics to the autoscaler. */
export function apiServices(examined: ExaminedMetrics): Check {
  return {
    name: 'metrics-api-services',
    title: 'APIServices of collected metrics',

    async run(context) {
      return await examined.withPlans(context, async ({ metrics, problems }) => {
        const found: Finding[] = [];
        for (const group of examined.groups) {
          const needed = metrics.filter((one) => one.group === group);
          if (needed.length === 0) found.push(note(group, isUsed(group, problems) ? NONE_CAN_BE : NONE));
          else found.push(...(await examineGroup(context, group, needed)));
        }
        return found;
      });
    },
  };
}

const NONE = 'no HPA has a collected metric of this API';
const NONE_CAN_BE = 'not checked: the configurations of all metrics of this API that HPAs use are invalid';

/** Whether an HPA has a metric of the group that cannot be collected. */
function isUsed(group: MetricsGroup, problems: ExaminedPlans['problems']): boolean {
  return problems.some(({ metric, isQuiet }) => !isQuiet && metric !== '' && groupOf(metric) === group);
}

async function examineGroup(
  context: ClusterContext,
  group: MetricsGroup,
  needed: readonly ExaminedMetric[],
): Promise<readonly Finding[]> {
  const names = { GROUP: group, ...OF_GROUP[group] };
  const registered: Registered[] = [];
  for (const version of METRICS_VERSIONS[group]) {
    const one = await read(context, `${version}.${group}`);
    if (one) registered.push(one);
  }
  const [first] = registered;
  if (!first)
    return [failed(group, 'has no APIService', { diagnosis: 'metrics-api-unregistered', ...names })];
  const found = registered.map(({ name, service, unavailable }) =>
    unavailable === undefined
      ? ok(`APIService ${name}`, `is available, from ${service}`)
      : failed(`APIService ${name}`, `is not available: ${unavailable}`, {
          diagnosis: 'metrics-api-unavailable',
          ...{ SERVICE: service, NAME: name },
        }),
  );
  const responding = await respondingVersion(context, group);
  if (!responding) return found;
  const discovered = needed.filter((one) => isDiscovered(one, responding.names));
  if (discovered.length > 0) return found;
  const seen = `${first.service} serves none of the collected metrics, ${needed.length} in number`;
  return [
    ...found,
    failed(group, seen, { diagnosis: 'metrics-api-of-another', ...names, SERVICE: first.service }),
  ];
}

const OF_GROUP: Readonly<Record<MetricsGroup, { readonly COMPONENT: string; readonly FLAG: string }>> = {
  'custom.metrics.k8s.io': { COMPONENT: 'manifests/components/custom-metrics', FLAG: 'custom' },
  'external.metrics.k8s.io': { COMPONENT: 'manifests/components/external-metrics', FLAG: 'external' },
};

async function read(context: ClusterContext, name: string): Promise<Registered | undefined> {
  const found = await readApiService(context, name);
  if (!found) return undefined;
  const { service: named } = found.spec;
  const service = named ? `${named.namespace}/${named.name}` : 'the API server itself';
  const { status, reason = 'unknown', message = 'no condition Available' } = availabilityOf(found) ?? {};
  const unavailable = status === 'True' ? undefined : `${reason}: ${message}`;
  return { name, service, unavailable };
}
