import { getOwn } from '#lib/kubernetes/get-own.ts';

/** The environment, as far as KEDA's deployments say in it what a flag says here. */
export type KedaEnvironment = Readonly<Record<string, string | undefined>>;

/** Each variable with the flag that it is: its value as that of the flag, `undefined` where it says nothing. */
const VARIABLES: Readonly<Record<string, (value: string) => string | undefined>> = {
  WATCH_NAMESPACE: (value) => `--watch-namespace=${value}`,
  KEDA_HTTP_DEFAULT_TIMEOUT: (value) => `--trigger-http-timeout=${value}ms`,
  KEDA_SCALEDOBJECT_CTRL_MAX_RECONCILES: (value) => `--concurrent-scaled-object-syncs=${value}`,
  KEDA_CLUSTER_OBJECT_NAMESPACE: (value) => `--cluster-object-namespace=${value}`,
  KEDA_RESTRICT_SECRET_ACCESS: (value) =>
    value.toLowerCase() === 'true' ? '--restrict-secret-access=true' : undefined,
  KEDA_BOUND_SERVICE_ACCOUNT_TOKEN_EXPIRY: (value) => `--bound-service-account-token-expiry=${value}`,
};

/**
 * A command line with the flags in front that the environment of KEDA's operator stands for, unless it has them itself.
 */
export function withFlagsOfEnvironment(
  argv: readonly string[],
  environment: KedaEnvironment,
): readonly string[] {
  const isGiven = (flag: string) => argv.some((word) => word.split('=')[0] === flag.split('=')[0]);
  return [...flagsOf(environment).filter((flag) => !isGiven(flag)), ...argv];
}

function flagsOf(environment: KedaEnvironment): readonly string[] {
  return Object.entries(VARIABLES).flatMap(([name, flagOf]) => {
    const value = getOwn(environment, name)?.trim();
    return (value && flagOf(value)) || [];
  });
}
