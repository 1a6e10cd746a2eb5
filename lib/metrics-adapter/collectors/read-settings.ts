import type { z } from 'zod';
import { nameOfMetric } from '../annotations/collected-metrics.ts';
import { type CollectorRequest, type SettingOrLabel, settingsOf } from './metric-collector.ts';
import type { SettingsSchema } from './setting-kinds.ts';

/** The settings of a collector: what they say, and where each stands. */
export interface ReadSettings<S extends SettingsSchema> {
  readonly values: z.output<S>;
  /** `Annotation …` or `Label …`, as errors begin; the bare name of one that is not there. */
  place(name: string): string;
  /** All that there are, as they are written. */
  readonly all: ReadonlyMap<string, SettingOrLabel>;
}

/**
 * Reads the settings of a metric's collector: its annotations, and the labels of its selector where these say nothing.
 *
 * @throws an Error that names the annotation or label and the rule that it breaks
 */
export function readSettings<S extends SettingsSchema>(
  schema: S,
  request: CollectorRequest,
): ReadSettings<S> {
  const all = settingsOf(request);
  const place = (name: string) => all.get(name)?.place ?? `Setting ${name}`;
  const given = Object.keys(schema.shape).flatMap((name) => {
    const value = all.get(name)?.value;
    return value === undefined ? [] : [[name, value] as const];
  });
  const read = schema.safeParse(Object.fromEntries(given));
  if (read.success) return { values: read.data, place, all };
  const [issue] = read.error.issues;
  const name = String(issue?.path[0] ?? '');
  if (all.has(name)) throw new Error(`${place(name)} ${issue?.message ?? 'cannot be used'}`);
  throw new Error(`Setting ${name} is missing of metric ${nameOfMetric(request.metric)}`);
}
