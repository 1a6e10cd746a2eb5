import { Semaphore } from '#lib/concurrency/semaphore.ts';
import { type Check, type Finding, note, ok } from '#lib/doctor/check.ts';
import type { ClusterContext } from '#lib/doctor/cluster-context.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { isDnsLabel, propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { pathSegment } from '#lib/kubernetes/path-segment.ts';
import { type HpaMetric, nameOfMetric } from '../collected-metrics.ts';
import {
  type ExaminedMetric,
  type ExaminedMetrics,
  failed,
  isDiscovered,
  type RespondingVersion,
  respondingVersion,
  subjectOf,
  subjectOfHpa,
  type UncollectedMetric,
} from './examined-metrics.ts';

const AT_ONCE = 16;
/** Bounds the examination: of more metrics, the first are requested. */
const MAX_METRICS = 500;

/**
 * Checks that the HPA controller gets the metrics, with the same requests: through the API server. Of metrics that are
 * not collected here, only those without a value are reported.
 */
export function servedValues(examined: ExaminedMetrics): Check {
  return {
    name: 'metrics-served',
    title: 'Values of collected metrics',

    async run(context) {
      return await examined.withPlans(context, async ({ metrics, uncollected }) => {
        const found: Finding[] = [];
        const semaphore = new Semaphore(AT_ONCE);
        for (const group of examined.groups) {
          const all = metrics.filter((one) => one.group === group);
          const others = uncollected.filter((one) => one.group === group);
          const isUsed = all.length + others.length > 0;
          const responding = isUsed ? await respondingVersion(context, group) : undefined;
          if (!responding) {
            // Of collected metrics, the APIService's finding covers all.
            if (all.length === 0) found.push(...others.map((one) => notProvided(one, 'does not respond')));
            continue;
          }
          const { version, names } = responding;
          const isCollectedHere = all.some((one) => isDiscovered(one, names));
          const own = isCollectedHere ? all : []; // of another provider, the APIService's finding covers all
          const requested = own.slice(0, MAX_METRICS).map(async (one) => {
            using _permit = await semaphore.acquire(context.signal);
            const isSilent = examined.silentQueries.has(one.planned.query.key);
            return [await examineMetric(context, one, { version, isSilent })];
          });
          const requestedOthers = others.slice(0, MAX_METRICS).map(async (one) => {
            using _permit = await semaphore.acquire(context.signal);
            return await examineUncollected(context, one, responding);
          });
          found.push(...(await Promise.all([...requested, ...requestedOthers])).flat());
        }
        return found.length > 0
          ? found
          : [note('values', 'no HPA has a collected metric whose value could be requested')];
      });
    },
  };
}

async function examineMetric(
  context: ClusterContext,
  one: ExaminedMetric,
  { version, isSilent }: { readonly version: string; readonly isSilent: boolean },
): Promise<Finding> {
  const { namespace, name } = one.hpa;
  // Where the query fails, its finding covers this one.
  const absent = (seen: string) =>
    isSilent
      ? note(subjectOf(one), 'not served, because the query of this metric fails')
      : failed(subjectOf(one), seen, { diagnosis: 'metric-not-served', NAMESPACE: namespace, NAME: name });
  const path = await pathOf(context, { ...one, metric: one.planned.metric }, version);
  if (path === undefined)
    return note(subjectOf(one), 'the API server does not serve the kind of the described object');
  try {
    const items = propertyOf(await context.get(path, `get ${one.group}`), 'items');
    const [first] = Array.isArray(items) ? items : [];
    if (first === undefined) return absent('the API returns no value');
    return ok(subjectOf(one), `served: ${String(propertyOf(first, 'value'))}`);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return absent(error.message);
  }
}

/** Reports a metric that neither the autoscaler nor another provider serves; of a served one, nothing. */
async function examineUncollected(
  context: ClusterContext,
  one: UncollectedMetric,
  { version, names }: RespondingVersion,
): Promise<readonly Finding[]> {
  const { metric, group } = one;
  const path = await pathOf(context, one, version);
  if (path === undefined)
    return [notProvided(one, 'cannot serve it: the API server has no resource of the described object')];
  try {
    const items = propertyOf(await context.get(path, `get ${group}`), 'items');
    if (Array.isArray(items) && items.length > 0) return [];
    if (metric.type === 'Pods' && names.has(`pods/${metric.name}`))
      return [note(subjectOfUncollected(one), 'another provider serves it, and has no value of any pod')];
    return [notProvided(one, 'returns no value')];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { statusCode, serverMessage = error.message } = error;
    return [notProvided(one, `returns status ${statusCode}: ${serverMessage}`)];
  }
}

/** @param response how the API responds, as in `returns no value` */
function notProvided(one: UncollectedMetric, response: string): Finding {
  const { hpa, metric, group } = one;
  return failed(
    subjectOfUncollected(one),
    `nothing serves this metric: the HPA has no collector for it, and ${group} ${response}`,
    {
      ...{ diagnosis: 'metric-without-collector', NAMESPACE: hpa.namespace, NAME: hpa.name },
      ...{ METRIC: nameOfMetric(metric), GROUP: group, ANNOTATION: annotationFor(metric) },
    },
  );
}

function subjectOfUncollected({ hpa, metric }: UncollectedMetric): string {
  return `${subjectOfHpa(hpa)} ${nameOfMetric(metric)}`;
}

/** The annotation that configures a collector: names that no key can contain are in the list of collectors. */
function annotationFor({ type, name }: HpaMetric): string {
  return isDnsLabel(name)
    ? `metric-config.${type.toLowerCase()}.${name}.COLLECTOR/SETTING`
    : 'metric-config/collectors';
}

/** Path of the HPA controller's request; of pods, for all of the namespace. */
async function pathOf(
  { mapper, signal }: ClusterContext,
  { hpa: { namespace }, metric, group }: UncollectedMetric,
  version: string,
): Promise<string | undefined> {
  const base = `/apis/${group}/${version}`;
  const inNamespace = `${base}/namespaces/${pathSegment(namespace)}`;
  const name = pathSegment(metric.name);
  const labels = Object.entries(metric.matchLabels).map(([key, value]) => `${key}=${value}`);
  const selected = (by: string) =>
    labels.length === 0 ? '' : `?${by}=${encodeURIComponent(labels.join(','))}`;
  if (metric.type === 'External') return `${inNamespace}/${name}${selected('labelSelector')}`;
  if (metric.type === 'Pods') return `${inNamespace}/pods/*/${name}${selected('metricLabelSelector')}`;
  const { apiVersion = 'v1', kind = '', name: object = '' } = metric.describedObject ?? {};
  const resource = await mapper.find({ apiVersion: apiVersion || 'v1', kind }, signal);
  if (!resource) return undefined;
  const plural = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
  if (plural === 'namespaces')
    return `${base}/namespaces/${pathSegment(object)}/metrics/${name}${selected('metricLabelSelector')}`;
  const where = resource.namespaced ? inNamespace : base;
  return `${where}/${plural}/${pathSegment(object)}/${name}${selected('metricLabelSelector')}`;
}
