/** The controllers that the autoscaler has, and whether `*` means them. */
export const CONTROLLERS = {
  cronhpa: { isOnByDefault: true },
  // Every cluster has one, which has to be switched off before.
  hpa: { isOnByDefault: false },
  // It leaves objects alone while KEDA's operator acts on them.
  scaledobjects: { isOnByDefault: true },
} as const satisfies Readonly<Record<string, { readonly isOnByDefault: boolean }>>;

export type ControllerName = keyof typeof CONTROLLERS;

export const CONTROLLER_NAMES = Object.keys(CONTROLLERS) as readonly ControllerName[];

/**
 * Reads which controllers run, as kube-controller-manager does: `*` is all that are on by default, `NAME` one of them, `-NAME` all
 * but that one; what comes first counts.
 *
 * @returns why a list cannot be read, as in `"cron" must be one of …`, or the names
 */
export function selectControllers(list: readonly string[]): ReadonlySet<ControllerName> | string {
  const unknown = list.find(
    (entry) => entry !== '*' && !CONTROLLER_NAMES.some((name) => entry === name || entry === `-${name}`),
  );
  if (unknown !== undefined)
    return `"${unknown}" must be * or one of ${CONTROLLER_NAMES.join(', ')}, or one of these behind a -`;
  return new Set(
    CONTROLLER_NAMES.filter((name) => {
      const said = list.find((entry) => entry === name || entry === `-${name}`);
      return said === undefined ? list.includes('*') && CONTROLLERS[name].isOnByDefault : said === name;
    }),
  );
}
