/** The annotation that configures collectors as a YAML list, whose metrics may have any names. */
export const LIST_KEY = 'metric-config/collectors';

/** What all other annotations begin with that configure a collector. */
export const CONFIG_PREFIX = 'metric-config.';

/** Whether an annotation may configure a collector. */
export function isConfigKey(key: string): boolean {
  return key === LIST_KEY || key.startsWith(CONFIG_PREFIX);
}
