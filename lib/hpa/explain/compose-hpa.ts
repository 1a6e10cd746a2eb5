import { isDnsLabel } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { formatThousandths, parseThousandths } from '#lib/kubernetes/quantity.ts';
import type { ComposerWork, Composition } from '#lib/ui/composer.ts';
import { type Field, FormValues, renderField, reportIssues } from '#lib/ui/form.ts';
import { type Html, html } from '#lib/ui/html.ts';
import { NAME, OBJECT_FIELDS, readObjectFields, warnOfTarget } from '#lib/ui/object-fields.ts';
import { replicaChart } from '#lib/ui/replica-chart.ts';
import { hpaSchema } from './hpa-manifest.ts';
import { type PlayedDecision, playScenario } from './play.ts';
import { parseScenario } from './scenario.ts';

const MIN: Field = {
  ...{ name: 'min', label: 'Minimum replicas', placeholder: '1' },
  hint: 'By default 1.',
};
const MAX: Field = { name: 'max', label: 'Maximum replicas', placeholder: '10', isRequired: true };
const CPU: Field = {
  name: 'cpu',
  label: 'CPU, % of requests',
  placeholder: '60',
  hint: 'Target value per pod.',
};
const MEMORY: Field = {
  ...{ name: 'memory', label: 'Memory, % of requests', placeholder: '80' },
  hint: 'Target value per pod.',
};
const METRIC: Field = { name: 'metric', label: 'External metric', placeholder: 'queue-depth' };
const SELECTOR: Field = {
  ...{ name: 'selector', label: 'Labels of the metric', placeholder: 'queue=orders,zone=a' },
  hint: 'Selects its series.',
};
const VALUE: Field = { name: 'value', label: 'Value per replica', placeholder: '30' };
const QUERY: Field = {
  ...{ name: 'query', label: 'Prometheus query', placeholder: 'sum(queue_depth)' },
  hint: 'Makes the annotation by which the autoscaler collects the metric. Leave it empty if another provider serves the metric.',
};
const WINDOW: Field = {
  ...{ name: 'window', label: 'Scale-down window, seconds', placeholder: '300' },
  hint: 'How long the replicas remain after the load falls. By default 300.',
};
const LOW: Field = {
  ...{ name: 'low', label: 'Load at night, %', placeholder: '10' },
  hint: 'Only for the preview. At 100%, the maximum number of replicas meets every target exactly.',
};
const PEAK: Field = { name: 'peak', label: 'Load at the peak, %', placeholder: '90' };
const FIELDS = [...OBJECT_FIELDS, MIN, MAX, CPU, MEMORY, METRIC, SELECTOR, VALUE, QUERY, WINDOW, LOW, PEAK];

const FIELDS_BY_PATH = {
  'metadata.name': NAME.name,
  spec: MIN.name,
  'spec.minReplicas': MIN.name,
  'spec.maxReplicas': MAX.name,
  'spec.behavior.scaleDown.stabilizationWindowSeconds': WINDOW.name,
};

type ComposedMetric =
  | {
      readonly type: 'Resource';
      readonly resource: {
        readonly name: 'cpu' | 'memory';
        readonly target: { readonly type: 'Utilization'; readonly averageUtilization: number };
      };
    }
  | {
      readonly type: 'External';
      readonly external: {
        readonly metric: { readonly name: string; readonly selector?: object };
        readonly target: { readonly type: 'AverageValue'; readonly averageValue: string };
      };
    };

/** The HPAs that a new one is compared with. */
export interface ComparedHpas {
  readonly isSynced: boolean;
  values(): Iterable<{
    readonly metadata: { readonly namespace: string; readonly name: string };
    readonly spec: {
      readonly scaleTargetRef: { readonly apiVersion?: string; readonly kind: string; readonly name: string };
    };
  }>;
}

/**
 * Makes an HPA from a form, checked as those of `explain-hpa` are, with a chart of a day's load.
 *
 * @param existing `undefined` if this process does not watch HPAs
 */
export async function composeHpa(
  query: URLSearchParams,
  work: ComposerWork,
  existing: ComparedHpas | undefined,
): Promise<Composition> {
  const values = new FormValues(query);
  const { manifest, fieldsByPath } = readManifest(values);
  const read = hpaSchema.safeParse(manifest);
  if (!read.success) reportIssues(read.error.issues, values, fieldsByPath);
  const { low = 10, peak = 90 } = { low: values.whole(LOW), peak: values.whole(PEAK) };
  if (peak > MAX_PEAK) values.report(PEAK.name, `must be at most ${MAX_PEAK}`);
  if (low > peak) values.report(LOW.name, 'must be at most the load at the peak');
  const { metadata, spec } = manifest;
  if (!work.hasPrometheusServer) warnOfPrometheus(values);
  await warnOfTarget(values, { ...spec.scaleTargetRef, namespace: metadata.namespace }, work);
  await work.turn();
  const warnings = values.hasProblems
    ? []
    : [...uncollected(values), ...compare(manifest, { values, existing })];
  const isValid = read.success && !values.hasProblems;
  const preview = isValid ? await renderDay(manifest, { low, peak }, work) : undefined;
  return {
    fields: html`${FIELDS.map((field) => renderField(field, values))}`,
    problems: values.general,
    warnings,
    manifest: isValid ? manifest : undefined,
    preview,
  };
}

/** Warns of a query that no Prometheus server is configured for. */
function warnOfPrometheus(values: FormValues): void {
  const metric = values.text(METRIC);
  if (metric === '' || values.text(QUERY) === '') return;
  const setting = isDnsLabel(metric)
    ? `annotation metric-config.external.${metric}.prometheus/prometheus-server`
    : 'setting prometheus-server of the annotation metric-config/collectors';
  values.warn(
    QUERY.name,
    `The autoscaler has no --prometheus-server: set the flag, or add the ${setting} to the YAML.`,
  );
}

/** Warns of an external metric without a query. */
function uncollected(values: FormValues): readonly string[] {
  const name = values.text(METRIC);
  if (name === '' || values.text(QUERY) !== '') return [];
  return [
    `No annotation collects "${name}": the HPA does not scale by it unless another provider serves the metric. Enter a Prometheus query to collect it.`,
  ];
}

/** Reports another HPA of the same target: Kubernetes scales such a target by neither. @returns warnings */
function compare(
  { metadata, spec: { scaleTargetRef: target } }: ReturnType<typeof readManifest>['manifest'],
  { values, existing }: { readonly values: FormValues; readonly existing: ComparedHpas | undefined },
): readonly string[] {
  if (!existing)
    return [
      'It is not checked whether another HPA scales this target: the controller hpa does not run here.',
    ];
  if (!existing.isSynced)
    return [
      'It is not checked yet whether another HPA scales this target: the HPAs are still being listed. Try again in a few seconds.',
    ];
  const warnings: string[] = [];
  for (const { metadata: other, spec } of existing.values()) {
    if (other.namespace !== metadata.namespace) continue;
    const { apiVersion = '', kind, name } = spec.scaleTargetRef;
    if (other.name === metadata.name)
      warnings.push(`HorizontalPodAutoscaler "${other.name}" exists; applying this YAML changes it.`);
    else if (kind === target.kind && name === target.name && /^(apps|extensions)\//.test(apiVersion)) {
      const message = `HorizontalPodAutoscaler "${other.name}" also scales ${kind} "${name}"; neither scales until one of them is deleted`;
      values.reportGeneral(message);
      break;
    }
  }
  return warnings;
}

function readManifest(values: FormValues) {
  const { metadata, target } = readObjectFields(values);
  const [min, max, window] = [MIN, MAX, WINDOW].map((field) => values.whole(field));
  if (max === undefined) values.report(MAX.name, 'is missing');
  const [cpu, memory] = [values.whole(CPU), values.whole(MEMORY)];
  const external = externalMetric(values);
  const annotations = collectorAnnotations(values);
  const parts: readonly { readonly field: string; readonly metric: ComposedMetric }[] = [
    ...(cpu === undefined ? [] : [{ field: CPU.name, metric: resourceMetric('cpu', cpu) }]),
    ...(memory === undefined ? [] : [{ field: MEMORY.name, metric: resourceMetric('memory', memory) }]),
    ...(external ? [{ field: VALUE.name, metric: external }] : []),
  ];
  const isUnreported = [CPU, MEMORY].every(({ name }) => values.problemOf(name) === undefined);
  if (parts.length === 0 && isUnreported)
    values.reportGeneral('Enter at least one of CPU, memory and an external metric');
  const manifest = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { ...metadata, ...(annotations && { annotations }) },
    spec: {
      scaleTargetRef: target,
      ...(min !== undefined && { minReplicas: min }),
      maxReplicas: max,
      metrics: parts.map(({ metric }) => metric),
      ...(window !== undefined && { behavior: { scaleDown: { stabilizationWindowSeconds: window } } }),
    },
  };
  const targets = parts.flatMap(({ field, metric }, index) =>
    metric.type === 'External'
      ? [[`spec.metrics.${index}.external.target.averageValue`, field]]
      : [[`spec.metrics.${index}.resource.target.averageUtilization`, field]],
  );
  return { manifest, fieldsByPath: { ...FIELDS_BY_PATH, ...Object.fromEntries(targets) } };
}

function resourceMetric(name: 'cpu' | 'memory', averageUtilization: number): ComposedMetric {
  return { type: 'Resource', resource: { name, target: { type: 'Utilization', averageUtilization } } };
}

function externalMetric(values: FormValues): ComposedMetric | undefined {
  const [name, averageValue] = [values.text(METRIC), values.text(VALUE)];
  const matchLabels = readLabels(values);
  if (name === '' && averageValue === '' && values.text(QUERY) === '') return undefined;
  if (name === '') values.report(METRIC.name, 'is missing');
  if (RESERVED_NAMES.includes(name))
    values.report(METRIC.name, `must not be ${RESERVED_NAMES.map((one) => `"${one}"`).join(' or ')}`);
  if (averageValue === '') values.report(VALUE.name, 'is missing');
  if (/^-|^[0.]+[a-zA-Z]*$/.test(averageValue)) values.report(VALUE.name, 'must be positive');
  const metric = { name, ...(matchLabels && { selector: { matchLabels } }) };
  return { type: 'External', external: { metric, target: { type: 'AverageValue', averageValue } } };
}

/** The annotation by which the metrics adapter collects the external metric; `undefined` without a query. */
function collectorAnnotations(values: FormValues): Readonly<Record<string, string>> | undefined {
  const [metric, query] = [values.text(METRIC), values.text(QUERY)];
  if (metric === '' || query === '') return undefined;
  // The key of an annotation is a DNS name before the slash; other names are in a list.
  if (isDnsLabel(metric)) return { [`metric-config.external.${metric}.prometheus/query`]: query };
  const list = [{ type: 'External', metric, collector: 'prometheus', query }];
  return { 'metric-config/collectors': JSON.stringify(list) };
}

/** Names that a scenario has other meanings of. */
const RESERVED_NAMES = ['at', 'cpu', 'memory'];

/** `queue=orders,zone=a`. */
function readLabels(values: FormValues): Readonly<Record<string, string>> | undefined {
  const text = values.text(SELECTOR);
  if (text === '') return undefined;
  const pairs = text.split(',').map((pair) => pair.split('=').map((part) => part.trim()));
  const isLabel = ([key = '', value, more]: readonly string[]) =>
    /^[\w./-]{1,317}$/.test(key) && value !== undefined && /^[\w.-]{0,63}$/.test(value) && more === undefined;
  if (!pairs.every(isLabel)) {
    values.report(SELECTOR.name, 'must be labels such as queue=orders,zone=a');
    return undefined;
  }
  return Object.fromEntries(pairs);
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Bounds the work for one page to tenths of a second. */
const MAX_DRAWN_REPLICAS = 100;
const MAX_PEAK = 200;
/** Pods that may be evaluated in one turn. */
const PODS_PER_TURN = 500;
/** Of each pod; only the ratio of the load to them counts. */
const REQUESTS = { cpu: '1', memory: '1Gi' };
const CPU_MILLICORES = 1000;
const MEMORY_MEBIBYTES = 1024;
/** The load at each hour, from 0 (night) to 1 (peak): an office day. */
const HOURS = [
  ...[0.05, 0.02, 0, 0, 0.02, 0.08, 0.25, 0.5, 0.75, 0.92, 1, 0.97],
  ...[0.8, 0.85, 0.95, 0.98, 0.9, 0.75, 0.6, 0.5, 0.42, 0.3, 0.18, 0.1, 0.05],
];

interface DayLoad {
  /** In per cent of what maxReplicas carry at their targets. */
  readonly low: number;
  readonly peak: number;
}

/** Plays a day with the functions of the controller, in turns of the user, and draws it. */
async function renderDay(
  hpa: ReturnType<typeof readManifest>['manifest'],
  load: DayLoad,
  { turn }: ComposerWork,
): Promise<Html> {
  const { minReplicas = 1, maxReplicas = 1 } = hpa.spec;
  if (maxReplicas > MAX_DRAWN_REPLICAS || minReplicas < 1)
    return html`<p class="hint">The chart requires at most ${MAX_DRAWN_REPLICAS} replicas, and at least 1.</p>`;
  const decisions: PlayedDecision[] = [];
  let pods = PODS_PER_TURN;
  for (const decision of playScenario(parseScenario(dayScenario(hpa, load)))) {
    decisions.push(decision);
    pods += decision.replicasBefore + 10;
    if (pods < PODS_PER_TURN) continue;
    pods = 0;
    await turn();
  }
  const proposed = decisions.map(({ atMs, outcome }) => ({
    atMs,
    value: outcome.explanation.proposedReplicas,
  }));
  const replicas = decisions.map(({ atMs, replicasAfter }) => ({ atMs, value: replicasAfter }));
  const axes = { fromMs: 0, untilMs: DAY_MS };
  return html`<div class="charts">${replicaChart({ replicas, proposed, minReplicas, maxReplicas }, axes)}</div>
<p class="hint">A simulated working day. The load is ${load.low}% at night and ${load.peak}% at the peak; 100% is the load at which ${maxReplicas} replicas have their metrics exactly at their targets. The code of the controller decides every two minutes, and new pods are ready after 30 s. To simulate your own load, run <code>autoscaler explain-hpa</code>.</p>`;
}

/** A scenario as \`explain-hpa\` reads it; each metric has the same share of its load. */
function dayScenario(hpa: ReturnType<typeof readManifest>['manifest'], { low, peak }: DayLoad): string {
  const { minReplicas = 1, maxReplicas = 1, metrics } = hpa.spec;
  const load = Array.from({ length: 24 * 4 }, (_, quarter) => {
    const [hour, part] = [Math.floor(quarter / 4), (quarter % 4) / 4];
    const share = (HOURS[hour] ?? 0) * (1 - part) + (HOURS[hour + 1] ?? 0) * part;
    const carried = (maxReplicas * (low + (peak - low) * share)) / 100;
    return {
      at: `${quarter * 15}m`,
      ...Object.fromEntries(metrics.map((metric) => loadOf(metric, carried))),
    };
  });
  const scenario = {
    hpa,
    replicas: minReplicas,
    requests: REQUESTS,
    syncPeriod: '2m',
    duration: '24h',
    load,
  };
  return JSON.stringify(scenario);
}

/** The value of a metric at which so many replicas are at their target. */
function loadOf(metric: ComposedMetric, replicas: number): [name: string, value: string] {
  if (metric.type === 'External') {
    const { name } = metric.external.metric;
    const thousandths = Number(parseThousandths(metric.external.target.averageValue));
    return [name, formatThousandths(BigInt(Math.round(thousandths * replicas)))];
  }
  const { name, target } = metric.resource;
  const used = (target.averageUtilization / 100) * replicas;
  return name === 'cpu'
    ? [name, `${Math.round(used * CPU_MILLICORES)}m`]
    : [name, `${Math.round(used * MEMORY_MEBIBYTES)}Mi`];
}
