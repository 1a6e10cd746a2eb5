import { z } from 'zod';
import {
  defaultedSpec,
  type HorizontalPodAutoscaler,
  nameOf,
} from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { Requests } from '#lib/kubernetes/objects/pod.ts';
import { parseThousandths } from '#lib/kubernetes/quantity.ts';
import { readYaml, YamlError } from '#lib/kubernetes/read-yaml.ts';
import { parseDurationMs } from '#lib/time/duration.ts';
import { DEFAULT_HPA_CONFIG, type HpaConfig } from '../decision/decision-input.ts';
import { hpaSchema, quantitySchema } from './hpa-manifest.ts';

/** An HPA with its load over time. */
export interface Scenario {
  /** With defaults. */
  readonly hpa: HorizontalPodAutoscaler;
  /** Number of replicas at the start, all of which are ready. */
  readonly replicas: number;
  /** Requests of each pod. */
  readonly requests: Requests;
  /** Time from the creation of a pod to its readiness. */
  readonly startupMs: number;
  readonly syncPeriodMs: number;
  readonly durationMs: number;
  readonly config: HpaConfig;
  readonly load: readonly LoadPoint[];
}

const MAX_TEXT_LENGTH = 4 * 1024 * 1024;
/** Maximum of decisions times maximum replicas: a few seconds of work. */
const MAX_WORK = 10_000_000;

const durationText = z.string({
  error: ({ input }) =>
    input === undefined
      ? undefined
      : `${String(JSON.stringify(input)).slice(0, 100)} is not a duration such as 1m30s`,
});
const duration = durationText.transform((text, context) => {
  const durationMs = parseDurationMs(text);
  if (durationMs !== undefined && durationMs >= 0) return durationMs;
  context.addIssue({ code: 'custom', message: `${JSON.stringify(text)} is not a duration such as 1m30s` });
  return z.NEVER;
});

const scenarioSchema = z.strictObject({
  hpa: hpaSchema.describe('The HorizontalPodAutoscaler, autoscaling/v2'),
  replicas: z.int().min(0).max(10_000).describe('Number of replicas at the start, all of which are ready'),
  requests: z.record(z.string(), quantitySchema).default({}).describe('Requests of each pod, by resource'),
  startup: duration.default(30_000).describe('Time until a pod is ready'),
  syncPeriod: duration.default(15_000).describe('Time between decisions'),
  duration: duration.describe('Length of the scenario'),
  tolerance: z.number().min(0).max(1).default(DEFAULT_HPA_CONFIG.tolerance),
  downscaleStabilization: duration.default(DEFAULT_HPA_CONFIG.downscaleStabilizationMs),
  scaleDownLimitFactor: z.number().min(0).max(1).default(DEFAULT_HPA_CONFIG.scaleDownLimit.factor),
  scaleDownLimitMinimum: z.int().min(0).default(DEFAULT_HPA_CONFIG.scaleDownLimit.minimum),
  load: z
    .unknown()
    .optional()
    .describe(
      'Values by metric, as a list or as CSV. Each value applies from its time on. For resources and metrics of pods, a value is the sum over all pods',
    ),
});

const loadSchema = z
  .array(z.object({ at: duration }).catchall(quantitySchema))
  .transform((points) =>
    points.map(({ at, ...values }): LoadPoint => ({ atMs: Number(at), values: texts(values) })),
  );

function texts(values: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

/** The name of the scenario in errors, and a load that replaces its own. */
interface ScenarioSource {
  readonly file?: string;
  readonly loadFile?: string;
  /** As CSV. */
  readonly loadText?: string;
}

/**
 * Parses a scenario from YAML.
 *
 * @throws {Error} with the file, the field, and the rule it violates
 */
export function parseScenario(text: string, source: ScenarioSource = {}): Scenario {
  const { file = 'the scenario', loadText, loadFile = file } = source;
  const refused = (why: string, cause?: unknown) => new Error(`Cannot read ${file}: ${why}`, { cause });
  if (text.length > MAX_TEXT_LENGTH) throw refused(`longer than ${MAX_TEXT_LENGTH} characters`);
  const value = yamlOf(text, refused);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refused('must be a YAML mapping');
  if ('kind' in value) {
    const kind = value.kind === 'HorizontalPodAutoscaler' ? 'an HPA' : 'a Kubernetes object, but not an HPA';
    throw refused(`the file is ${kind}: ${FORM}`);
  }
  const read = scenarioSchema.safeParse(value, { error: missing });
  if (!read.success) throw refused(problemsOf(read.error));
  if (loadText === undefined && read.data.load === undefined) throw refused('load: is missing');
  const { hpa, replicas, requests, startup, syncPeriod, tolerance, downscaleStabilization } = read.data;
  const { scaleDownLimitFactor: factor, scaleDownLimitMinimum: minimum } = read.data;
  const decisions = read.data.duration / Math.max(syncPeriod, 1000);
  const max = Math.max(replicas, hpa.spec.maxReplicas);
  if (syncPeriod < 1000) throw refused('syncPeriod: must be at least 1s');
  if (decisions * max > MAX_WORK)
    throw refused(
      `duration: the number of decisions times the maximum number of replicas exceeds ${MAX_WORK}`,
    );
  const spec = defaultedSpec(hpa.spec);
  return {
    replicas,
    requests,
    startupMs: startup,
    syncPeriodMs: syncPeriod,
    durationMs: read.data.duration,
    load: loadOf(loadText ?? read.data.load, { file: loadFile, metrics: (spec.metrics ?? []).map(nameOf) }),
    hpa: { metadata: hpa.metadata, spec },
    config: {
      ...DEFAULT_HPA_CONFIG,
      tolerance,
      downscaleStabilizationMs: downscaleStabilization,
      scaleDownLimit: { factor, minimum },
      configurableTolerance: true,
    },
  };
}

/** What a file with Kubernetes objects has to become. */
const FORM = 'put the HPA under `hpa:`, and add replicas, duration and load';

function yamlOf(text: string, refused: (why: string, cause?: unknown) => Error): unknown {
  try {
    return readYaml(text);
  } catch (error) {
    if (error instanceof YamlError && error.message.startsWith('multiple docs'))
      throw refused(`the file has several YAML documents, but a scenario is one: ${FORM}`);
    throw refused(`invalid YAML: ${(error as Error).message}`, error);
  }
}

function loadOf(
  load: unknown,
  { file, metrics }: { readonly file: string; readonly metrics: readonly string[] },
): readonly LoadPoint[] {
  try {
    const read = typeof load === 'string' ? undefined : loadSchema.safeParse(load, { error: missing });
    if (read?.error) throw new Error(`load: ${problemsOf(read.error)}`);
    const points = read ? inOrder(read.data) : parseLoadCsv(load as string);
    for (const { values } of points) {
      const unknown = Object.keys(values).find((name) => !metrics.includes(name));
      if (unknown !== undefined)
        throw new Error(`${JSON.stringify(unknown)} must be one of the HPA's metrics: ${metrics.join(', ')}`);
    }
    return points;
  } catch (error) {
    throw new Error(`Cannot read load of ${file}: ${(error as Error).message}`);
  }
}

/** The problem of a missing field, instead of its type. */
function missing({ input }: { readonly input?: unknown }): string | undefined {
  return input === undefined ? 'is missing' : undefined;
}

/** Maximum of problems in an error. */
const MAX_PROBLEMS = 5;

/** Describes each problem with its path and rule. */
function problemsOf({ issues }: z.ZodError): string {
  const problems = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => `${[...issue.path, key].join('.')}: unknown field`)
      : `${issue.path.length === 0 ? '' : `${issue.path.join('.')}: `}${issue.message}`,
  );
  const shown = problems.slice(0, MAX_PROBLEMS);
  const others = problems.length - shown.length;
  return `${shown.join('; ')}${others > 0 ? `; and ${others} more` : ''}`;
}

/** Values of metrics from a time on. */
export interface LoadPoint {
  /** Time since the start of the scenario. */
  readonly atMs: number;
  /** Quantities by metric; a missing metric cannot be read from then on. */
  readonly values: Readonly<Record<string, string>>;
}

/** The values at a time: the last point that is not later. Binary search, as each decision calls it. */
export function loadAt(points: readonly LoadPoint[], atMs: number): LoadPoint['values'] {
  let [from, until] = [0, points.length];
  while (from < until) {
    const middle = (from + until) >>> 1;
    if ((points[middle]?.atMs ?? 0) <= atMs) from = middle + 1;
    else until = middle;
  }
  return points[from - 1]?.values ?? {};
}

/** Maximum of rows. */
const MAX_ROWS = 100_000;

/**
 * Parses a load from CSV: a header `at,METRIC,…`, then rows of a duration and quantities in order of time. An empty cell
 * is a metric that cannot be read.
 *
 * @throws {Error} with the line number
 */
export function parseLoadCsv(text: string): LoadPoint[] {
  const lines = text.split(/\r?\n/);
  if (lines.length > MAX_ROWS) throw new Error(`more than ${MAX_ROWS} lines`);
  const [heading = '', ...rows] = lines;
  const [first, ...names] = heading.split(',').map((name) => name.trim());
  if (first !== 'at' || names.length === 0 || names.includes('')) {
    throw new Error('line 1 is not the header "at,METRIC,…"');
  }
  const points: LoadPoint[] = [];
  rows.forEach((row, index) => {
    if (row.trim() !== '') points.push(pointOf(row, names, index + 2));
  });
  return inOrder(points);
}

/** @throws {Error} when a point is not later than the previous one */
export function inOrder(points: readonly LoadPoint[]): LoadPoint[] {
  points.forEach(({ atMs }, index) => {
    const before = points[index - 1];
    if (before && before.atMs >= atMs) {
      throw new Error(`entry ${index + 1} is not later than the previous entry`);
    }
  });
  return [...points];
}

function pointOf(row: string, names: readonly string[], line: number): LoadPoint {
  const [at = '', ...cells] = row.split(',').map((cell) => cell.trim());
  const atMs = parseDurationMs(at);
  if (atMs === undefined || atMs < 0) {
    throw new Error(`line ${line} does not start with a duration`);
  }
  if (cells.length > names.length) throw new Error(`line ${line} has too many cells`);
  const values = new Map<string, string>();
  names.forEach((name, index) => {
    const cell = cells[index] ?? '';
    if (cell === '') return;
    try {
      parseThousandths(cell);
    } catch (cause) {
      throw new Error(`line ${line}, ${name}: ${(cause as Error).message}`, { cause });
    }
    values.set(name, cell);
  });
  return { atMs, values: Object.fromEntries(values) };
}
