import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { parseDurationMs } from '#lib/time/duration.ts';
import { defaultedSpec } from '../defaulted-spec.ts';
import type { HorizontalPodAutoscaler } from '../objects/horizontal-pod-autoscaler.ts';
import { DEFAULT_HPA_CONFIG, type HpaConfig } from '../objects/hpa-config.ts';
import type { Requests } from '../objects/scaled-pod.ts';
import { hpaSpecSchema, quantitySchema } from './hpa-schema.ts';
import { inOrder, type LoadPoint, parseLoadCsv } from './load-curve.ts';

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

const duration = z.string().transform((text, context) => {
  const durationMs = parseDurationMs(text);
  if (durationMs !== undefined && durationMs >= 0) return durationMs;
  context.addIssue({ code: 'custom', message: `${JSON.stringify(text)} is no duration like 1m30s` });
  return z.NEVER;
});

const scenarioSchema = z.strictObject({
  hpa: z
    .object({
      metadata: z.object({ name: z.string(), namespace: z.string().default('default') }),
      spec: hpaSpecSchema,
    })
    .describe('The HorizontalPodAutoscaler, autoscaling/v2'),
  replicas: z.int().min(0).max(10_000).describe('Replicas at the start, all ready'),
  requests: z.record(z.string(), quantitySchema).default({}).describe('What each pod requests, by resource'),
  startup: duration.default(30_000).describe('How long a pod takes until it is ready'),
  syncPeriod: duration.default(15_000).describe('How often the HPA is looked at'),
  duration: duration.describe('How long the scenario lasts'),
  tolerance: z.number().min(0).max(1).default(DEFAULT_HPA_CONFIG.tolerance),
  downscaleStabilization: duration.default(DEFAULT_HPA_CONFIG.downscaleStabilizationMs),
  load: z
    .unknown()
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

/**
 * Reads a scenario from YAML.
 *
 * @param loadCsv in place of its `load`
 * @throws {Error} that names what is wrong with which field
 */
export function parseScenario(text: string, loadCsv?: string): Scenario {
  if (text.length > LONGEST_TEXT)
    throw new Error(`Cannot read the scenario: longer than ${LONGEST_TEXT} characters`);
  const read = scenarioSchema.safeParse(parseYaml(text, { maxAliasCount: 0 }));
  if (!read.success) throw new Error(`Cannot read the scenario: ${z.prettifyError(read.error)}`);
  const { hpa, replicas, requests, startup, syncPeriod, tolerance, downscaleStabilization } = read.data;
  const decisions = read.data.duration / Math.max(syncPeriod, 1000);
  const most = Math.max(replicas, hpa.spec.maxReplicas);
  if (syncPeriod < 1000 || decisions * most > MOST_WORK) {
    throw new Error(
      `Cannot read the scenario: syncPeriod is less than 1s, or decisions times replicas exceed ${MOST_WORK}`,
    );
  }
  return {
    ...{ replicas, requests, startupMs: startup, syncPeriodMs: syncPeriod, durationMs: read.data.duration },
    load: loadOf(loadCsv ?? read.data.load),
    hpa: { metadata: hpa.metadata, spec: defaultedSpec(hpa.spec) },
    config: {
      ...DEFAULT_HPA_CONFIG,
      ...{ tolerance, downscaleStabilizationMs: downscaleStabilization, configurableTolerance: true },
    },
  };
}

function loadOf(load: unknown): readonly LoadPoint[] {
  if (typeof load === 'string') return parseLoadCsv(load);
  const read = loadSchema.safeParse(load);
  if (!read.success) throw new Error(`Cannot read the load: ${z.prettifyError(read.error)}`);
  return inOrder(read.data);
}
