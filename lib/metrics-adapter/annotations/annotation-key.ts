import { CONFIG_PREFIX } from '../objects/config-key.ts';
import type { HpaMetric } from '../objects/scaled-hpa.ts';

/** What the key of an annotation says: one setting of one collector of one metric. */
export interface AnnotationKey {
  readonly type: HpaMetric['type'];
  readonly metric: string;
  readonly collector: string;
  readonly setting: string;
}

/**
 * Reads `metric-config.TYPE.METRIC.COLLECTOR/SETTING`, where any type but pods and object means external.
 *
 * @returns `undefined` for a key of another form, as one whose metric has a dot: these are the list's
 */
export function parseAnnotationKey(key: string): AnnotationKey | undefined {
  if (!key.startsWith(CONFIG_PREFIX)) return undefined;
  const [left = '', setting, ...more] = key.split('/');
  const [, type = '', metric = '', collector = '', ...dots] = left.split('.');
  if (setting === undefined || more.length > 0 || dots.length > 0) return undefined;
  if (metric === '' || collector === '' || setting === '') return undefined;
  return { type: TYPES[type] ?? 'External', metric, collector, setting };
}

const TYPES: Readonly<Record<string, HpaMetric['type']>> = { pods: 'Pods', object: 'Object' };
