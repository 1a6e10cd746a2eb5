/** How minReplicas of an HPA follow its week. */
export type AutoMinMode = 'recommend' | 'apply' | 'never';

/** The values of the flag. */
export const AUTO_MIN_MODES = ['recommend', 'apply', 'never'] as const satisfies readonly AutoMinMode[];

/** The annotation with the mode of an HPA. */
export const AUTO_MIN_REPLICAS = 'autoscaling.stke.com/auto-min-replicas';
/** The annotations with its bounds. Without `-highest`, minReplicas is never raised. */
const AUTO_MIN_LOWEST = `${AUTO_MIN_REPLICAS}-lowest`;
export const AUTO_MIN_HIGHEST = `${AUTO_MIN_REPLICAS}-highest`;

/** The settings of one HPA. */
export interface AutoMinSettings {
  readonly mode: AutoMinMode;
  readonly lowest: number;
  /** `undefined` when minReplicas is never raised. */
  readonly highest: number | undefined;
  /** Why the annotations are invalid; nothing is recommended or changed then. */
  readonly problem?: string;
}

/** Parses the annotations of an HPA. @param otherwise the mode without an annotation */
export function autoMinSettings(
  annotations: Readonly<Record<string, string>>,
  otherwise: AutoMinMode,
): AutoMinSettings {
  const mode = annotations[AUTO_MIN_REPLICAS] ?? otherwise;
  if (!isMode(mode)) return refused(AUTO_MIN_REPLICAS, mode, `must be one of ${AUTO_MIN_MODES.join(', ')}`);
  const lowest = annotations[AUTO_MIN_LOWEST] ?? '1';
  if (!isCount(lowest)) return refused(AUTO_MIN_LOWEST, lowest, COUNT_RULE);
  const highest = annotations[AUTO_MIN_HIGHEST];
  if (highest !== undefined && !isCount(highest)) return refused(AUTO_MIN_HIGHEST, highest, COUNT_RULE);
  if (highest !== undefined && Number(highest) < Number(lowest))
    return refused(AUTO_MIN_HIGHEST, highest, `must not be below ${AUTO_MIN_LOWEST}, which is ${lowest}`);
  return { mode, lowest: Number(lowest), highest: highest === undefined ? undefined : Number(highest) };
}

const COUNT_RULE = 'must be an integer from 1 to 2147483647';

function refused(annotation: string, value: string, rule: string): AutoMinSettings {
  const problem = `annotation ${annotation} ${JSON.stringify(value.slice(0, 64))} ${rule}`;
  return { mode: 'never', lowest: 1, highest: undefined, problem };
}

function isMode(text: string): text is AutoMinMode {
  return (AUTO_MIN_MODES as readonly string[]).includes(text);
}

function isCount(text: string): boolean {
  return /^[1-9]\d{0,9}$/.test(text) && Number(text) <= 2 ** 31 - 1;
}
