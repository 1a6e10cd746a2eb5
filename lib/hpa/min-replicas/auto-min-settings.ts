/** What becomes of the minimum that the week asks for. */
export type AutoMinMode = 'recommend' | 'apply' | 'never';

/** The modes, for flags. */
export const AUTO_MIN_MODES = ['recommend', 'apply', 'never'] as const satisfies readonly AutoMinMode[];

/** What an HPA says of its minReplicas that follow the week. */
export const AUTO_MIN_REPLICAS = 'autoscaling.stke.com/auto-min-replicas';
/** Its bounds. Above the minimum that there is goes only an HPA that names a highest one. */
const AUTO_MIN_LOWEST = `${AUTO_MIN_REPLICAS}-lowest`;
const AUTO_MIN_HIGHEST = `${AUTO_MIN_REPLICAS}-highest`;

/** What counts for one HPA. */
export interface AutoMinSettings {
  readonly mode: AutoMinMode;
  readonly lowest: number;
  /** `undefined` where the minimum is never raised. */
  readonly highest: number | undefined;
  /** Why the annotations do not count; nothing is recommended or changed then. */
  readonly problem?: string;
}

/** Reads the annotations of an HPA. @param otherwise where it says nothing */
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

const COUNT_RULE = 'must be a whole number from 1 to 2147483647';

function refused(annotation: string, value: string, rule: string): AutoMinSettings {
  const problem = `the annotation ${annotation} ${JSON.stringify(value.slice(0, 64))} ${rule}`;
  return { mode: 'never', lowest: 1, highest: undefined, problem };
}

function isMode(text: string): text is AutoMinMode {
  return (AUTO_MIN_MODES as readonly string[]).includes(text);
}

function isCount(text: string): boolean {
  return /^[1-9]\d{0,9}$/.test(text) && Number(text) <= 2 ** 31 - 1;
}
