/** The controllers, and whether `*` includes them. */
export const CONTROLLERS = {
  cronhpa: { isOnByDefault: true },
  // Every cluster has an HPA controller, which has to be disabled first.
  hpa: { isOnByDefault: false },
  // Leaves objects to KEDA while its operator is active.
  scaledobjects: { isOnByDefault: true },
} as const satisfies Readonly<Record<string, { readonly isOnByDefault: boolean }>>;

export type ControllerName = keyof typeof CONTROLLERS;

export const CONTROLLER_NAMES = Object.keys(CONTROLLERS) as readonly ControllerName[];

/**
 * Parses the controllers to run, as kube-controller-manager does: `*` is all that are on by default, `NAME` enables one,
 * `-NAME` disables one; the first match counts.
 *
 * @returns the names, or an error such as `"cron" must be one of …`
 */
export function selectControllers(list: readonly string[]): ReadonlySet<ControllerName> | string {
  const unknown = list.find(
    (entry) => entry !== '*' && !CONTROLLER_NAMES.some((name) => entry === name || entry === `-${name}`),
  );
  if (unknown !== undefined)
    return `"${unknown}" must be * or one of ${CONTROLLER_NAMES.join(', ')}, or one of these after a -`;
  return new Set(
    CONTROLLER_NAMES.filter((name) => {
      const said = list.find((entry) => entry === name || entry === `-${name}`);
      return said === undefined ? list.includes('*') && CONTROLLERS[name].isOnByDefault : said === name;
    }),
  );
}
