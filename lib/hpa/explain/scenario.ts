import { z } from 'zod';
import {
  defaultedSpec,
  type HorizontalPodAutoscaler,
  nameOf,
} from '#lib/kubernetes/objects/horizontal-pod-autoscaler.ts';
import type { Requests } from '#lib/kubernetes/objects/pod.ts';
import { parseThousandths } from '#lib/kubernetes/quantity.ts';
import { readYaml } from '#lib/kubernetes/read-yaml.ts';
import { parseDurationMs } from '#lib/time/duration.ts';
import { DEFAULT_HPA_CONFIG, type HpaConfig } from '../decision/decision-input.ts';
import { hpaSchema, quantitySchema } from './hpa-manifest.ts';

/** An HPA, and what happens to it. */
export interface Scenario {
  /** With its defaults filled in. */
  readonly hpa: HorizontalPodAutoscaler;
  /** How many replicas there are at the start, all ready. */
  readonly replicas: number;
  /** Of each pod. */
  readonly requests: Requests;
  /** How long a pod takes from its creation to being ready. */
  readonly startupMs: number;
  readonly syncPeriodMs: number;
  readonly durationMs: number;
  readonly config: HpaConfig;
  readonly load: readonly LoadPoint[];
}

const LONGEST_TEXT = 4 * 1024 * 1024;
/** So many decisions, times the most replicas, a scenario may ask for: some seconds of work. */
const MOST_WORK = 10_000_000;

const durationText = z.string({
  error: ({ input }) =>
    input === undefined
      ? undefined
      : `${String(JSON.stringify(input)).slice(0, 100)} is no duration like 1m30s`,
});
const duration = durationText.transform((text, context) => {
  const durationMs = parseDurationMs(text);
  if (durationMs !== undefined && durationMs >= 0) return durationMs;
  context.addIssue({ code: 'custom', message: `${JSON.stringify(text)} is no duration like 1m30s` });
  return z.NEVER;
});

const scenarioSchema = z.strictObject({
  hpa: hpaSchema.describe('The HorizontalPodAutoscaler, autoscaling/v2'),
  replicas: z.int().min(0).max(10_000).describe('Replicas at the start, all ready'),
  requests: z.record(z.string(), quantitySchema).default({}).describe('What each pod requests, by resource'),
  startup: duration.default(30_000).describe('How long a pod takes until it is ready'),
  syncPeriod: duration.default(15_000).describe('How often the HPA is looked at'),
  duration: duration.describe('How long the scenario lasts'),
  tolerance: z.number().min(0).max(1).default(DEFAULT_HPA_CONFIG.tolerance),
  downscaleStabilization: duration.default(DEFAULT_HPA_CONFIG.downscaleStabilizationMs),
  load: z
    .unknown()
    .optional()
    .describe(
      'Values by metric from a moment on, as a list or as CSV: of resources and metrics of pods the sum over all pods',
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

/** Where a scenario was read, for errors, and a load that is read in place of its own. */
interface ScenarioSource {
  readonly file?: string;
  readonly loadFile?: string;
  /** As CSV. */
  readonly loadText?: string;
}

/**
 * Reads a scenario from YAML.
 *
 * @throws {Error} that names the file, what is wrong with which field, and the rule
 */
export function parseScenario(text: string, source: ScenarioSource = {}): Scenario {
  const { file = 'the scenario', loadText, loadFile = file } = source;
  const refused = (why: string, cause?: unknown) => new Error(`Cannot read ${file}: ${why}`, { cause });
  if (text.length > LONGEST_TEXT) throw refused(`longer than ${LONGEST_TEXT} characters`);
  const value = yamlOf(text, refused);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refused('it must be a YAML mapping');
  if ('kind' in value && value.kind === 'HorizontalPodAutoscaler')
    throw refused(
      'it is an HPA by itself: put the HPA under `hpa:`, and replicas, duration and load beside it',
    );
  const read = scenarioSchema.safeParse(value, { error: missing });
  if (!read.success) throw refused(problemsOf(read.error));
  if (loadText === undefined && read.data.load === undefined) throw refused('load: is missing');
  const { hpa, replicas, requests, startup, syncPeriod, tolerance, downscaleStabilization } = read.data;
  const decisions = read.data.duration / Math.max(syncPeriod, 1000);
  const most = Math.max(replicas, hpa.spec.maxReplicas);
  if (syncPeriod < 1000) throw refused('syncPeriod: must be at least 1s');
  if (decisions * most > MOST_WORK)
    throw refused(`duration: so many decisions times replicas exceed ${MOST_WORK}`);
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
      configurableTolerance: true,
    },
  };
}

function yamlOf(text: string, refused: (why: string, cause: unknown) => Error): unknown {
  try {
    return readYaml(text);
  } catch (error) {
    throw refused(`no YAML: ${(error as Error).message}`, error);
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
        throw new Error(`${unknown}: must be one of the HPA's metrics, ${metrics.join(', ')}`);
    }
    return points;
  } catch (error) {
    throw new Error(`Cannot read the load of ${file}: ${(error as Error).message}`);
  }
}

/** What is told of a field that is not there, in place of its type. */
function missing({ input }: { readonly input?: unknown }): string | undefined {
  return input === undefined ? 'is missing' : undefined;
}

/** So many problems are told; a scenario that has more is another kind of file. */
const MOST_TOLD = 5;

/** Where each problem is, and what the rule is. */
function problemsOf({ issues }: z.ZodError): string {
  const problems = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => `${[...issue.path, key].join('.')}: unknown field`)
      : `${issue.path.length === 0 ? '' : `${issue.path.join('.')}: `}${issue.message}`,
  );
  const told = problems.slice(0, MOST_TOLD);
  const others = problems.length - told.length;
  return `${told.join('; ')}${others > 0 ? `; and ${others} more` : ''}`;
}

/** From when on metrics have which values. */
export interface LoadPoint {
  /** Since the start of the scenario. */
  readonly atMs: number;
  /** Quantities by metric; a metric that is not there cannot be read from then on. */
  readonly values: Readonly<Record<string, string>>;
}

/** Tells what holds at a moment: the last point that is not later. Each decision of a scenario asks, so points are halved. */
export function loadAt(points: readonly LoadPoint[], atMs: number): LoadPoint['values'] {
  let [from, until] = [0, points.length];
  while (from < until) {
    const middle = (from + until) >>> 1;
    if ((points[middle]?.atMs ?? 0) <= atMs) from = middle + 1;
    else until = middle;
  }
  return points[from - 1]?.values ?? {};
}

/** So many rows of a table are read at most. */
const MOST_ROWS = 100_000;

/**
 * Reads a load from CSV: a heading `at,METRIC,…`, then rows of a duration and quantities in order of time. An empty cell
 * is a metric that cannot be read.
 *
 * @throws {Error} that names the line
 */
export function parseLoadCsv(text: string): LoadPoint[] {
  const lines = text.split(/\r?\n/);
  if (lines.length > MOST_ROWS) throw new Error(`more than ${MOST_ROWS} lines`);
  const [heading = '', ...rows] = lines;
  const [first, ...names] = heading.split(',').map((name) => name.trim());
  if (first !== 'at' || names.length === 0 || names.includes('')) {
    throw new Error('line 1 is no heading "at,METRIC,…"');
  }
  const points: LoadPoint[] = [];
  rows.forEach((row, place) => {
    if (row.trim() !== '') points.push(pointOf(row, names, place + 2));
  });
  return inOrder(points);
}

/** @throws {Error} when a point is no later than the one before */
export function inOrder(points: readonly LoadPoint[]): LoadPoint[] {
  points.forEach(({ atMs }, place) => {
    const before = points[place - 1];
    if (before && before.atMs >= atMs) {
      throw new Error(`point ${place + 1} is no later than the one before`);
    }
  });
  return [...points];
}

function pointOf(row: string, names: readonly string[], line: number): LoadPoint {
  const [at = '', ...cells] = row.split(',').map((cell) => cell.trim());
  const atMs = parseDurationMs(at);
  if (atMs === undefined || atMs < 0) {
    throw new Error(`line ${line} begins with no duration`);
  }
  if (cells.length > names.length) throw new Error(`line ${line} has too many cells`);
  const values = new Map<string, string>();
  names.forEach((name, place) => {
    const cell = cells[place] ?? '';
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
