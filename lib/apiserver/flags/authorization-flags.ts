import { parsePathRules } from '#lib/apiserver/access/authorizer.ts';
import { duration, flag, notNegative, text, texts } from '#lib/flags/flag.ts';

/** Who may do what, and who says so. */
export const authorizationFlags = {
  authorizationKubeconfig: flag('authorization-kubeconfig', text, {
    default: '',
    description:
      'Kubeconfig file for the API server that is asked who may do what; by default as --kubeconfig.',
  }),
  authorizationAlwaysAllowPaths: flag('authorization-always-allow-paths', texts, {
    default: ['/healthz', '/readyz', '/livez'],
    description: 'Paths that everybody may ask for; a star at the end stands for whatever follows.',
    ruleBrokenBy: strayStar,
  }),
  authorizationAuthorizedTtlMs: flag('authorization-webhook-cache-authorized-ttl', duration, {
    default: 10_000,
    description: 'For how long it is remembered that somebody may do something.',
    ruleBrokenBy: notNegative,
  }),
  authorizationUnauthorizedTtlMs: flag('authorization-webhook-cache-unauthorized-ttl', duration, {
    default: 10_000,
    description: 'For how long it is remembered that somebody may not do something.',
    ruleBrokenBy: notNegative,
  }),
};

function strayStar(paths: readonly string[]): string | undefined {
  try {
    parsePathRules(paths);
    return undefined;
  } catch {
    return 'must have no star but at the end of a path';
  }
}
