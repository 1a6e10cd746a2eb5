import { isMisspelling } from './is-misspelling.ts';

/** The annotation that configures collectors as a YAML list, whose metrics may have any names. */
export const LIST_KEY = 'metric-config/collectors';

/** What all other annotations begin with that configure a collector. */
export const CONFIG_PREFIX = 'metric-config.';

/** The types that such an annotation may name behind its prefix. */
export const CONFIG_TYPES = ['pods', 'object', 'external'] as const;

/** Whether an annotation may configure a collector. */
export function isConfigKey(key: string): boolean {
  return key === LIST_KEY || key.startsWith(CONFIG_PREFIX);
}

/**
 * Whether an annotation looks as if it was to configure a collector, and does not: its first word is slightly wrong, or
 * nothing is known by its second. Others' annotations by similar names, as those of a domain, are not taken for one.
 */
export function isMisspeltConfigKey(key: string): boolean {
  if (isConfigKey(key)) return false;
  const [prefix = '', second = ''] = key.split(/[./]/, 2);
  const words = key[prefix.length] === '/' ? ['collectors'] : CONFIG_TYPES;
  return isAs(prefix, 'metric-config') && words.some((word) => isAs(second, word));
}

function isAs(word: string, wanted: string): boolean {
  return word === wanted || isMisspelling(word, wanted);
}
