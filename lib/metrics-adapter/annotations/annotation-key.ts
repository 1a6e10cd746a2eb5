import { CONFIG_PREFIX, type HpaMetric } from './collected-metrics.ts';

/** What the key of an annotation says: one setting of one collector of one metric. */
export interface AnnotationKey {
  /** `undefined` for a type that there is not. */
  readonly type: HpaMetric['type'] | undefined;
  readonly metric: string;
  readonly collector: string;
  readonly setting: string;
}

/**
 * Reads `metric-config.TYPE.METRIC.COLLECTOR/SETTING`, whose type may be in capitals.
 *
 * @returns `undefined` for a key of another form, as one whose metric has a dot: these are the list's
 */
export function parseAnnotationKey(key: string): AnnotationKey | undefined {
  if (!key.startsWith(CONFIG_PREFIX)) return undefined;
  const [left = '', setting, ...more] = key.split('/');
  const [, type = '', metric = '', collector = '', ...dots] = left.split('.');
  if (setting === undefined || more.length > 0 || dots.length > 0) return undefined;
  if (metric === '' || collector === '' || setting === '') return undefined;
  return { type: TYPES.get(type.toLowerCase()), metric, collector, setting };
}

const TYPES: ReadonlyMap<string, HpaMetric['type']> = new Map([
  ['pods', 'Pods'],
  ['object', 'Object'],
  ['external', 'External'],
]);
