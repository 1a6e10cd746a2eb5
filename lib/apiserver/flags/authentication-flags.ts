import { boolean, duration, flag, notNegative, text, texts } from '#lib/flags/flag.ts';

/** Who may come in, and who says so. */
export const authenticationFlags = {
  authenticationKubeconfig: flag('authentication-kubeconfig', text, {
    default: '',
    description:
      'Kubeconfig file for the API server that is asked whose a token is and whom to believe; by default as --kubeconfig.',
  }),
  authenticationSkipLookup: flag('authentication-skip-lookup', boolean, {
    default: false,
    description:
      'Do not learn from the cluster what --client-ca-file and --requestheader-client-ca-file leave open.',
  }),
  authenticationTolerateLookupFailure: flag('authentication-tolerate-lookup-failure', boolean, {
    default: false,
    description:
      'Start although the API server refuses to tell whom to believe. Callers may then be taken for anonymous.',
  }),
  authenticationTokenCacheTtlMs: flag('authentication-token-webhook-cache-ttl', duration, {
    default: 10_000,
    description: 'For how long it is remembered whose a token is.',
    ruleBrokenBy: notNegative,
  }),
  clientCaFile: flag('client-ca-file', text, {
    default: '',
    description:
      "File with the authorities, in PEM, that sign users' certificates; by default those that the cluster tells of.",
  }),
  requestheaderClientCaFile: flag('requestheader-client-ca-file', text, {
    default: '',
    description:
      "File with the authorities, in PEM, that sign the front proxy's certificate; by default the cluster tells of " +
      'them and of everything that the other --requestheader-… flags say.',
  }),
  requestheaderAllowedNames: flag('requestheader-allowed-names', texts, {
    default: [],
    description: "Common names of the front proxy's certificate; by default any.",
  }),
  requestheaderUsernameHeaders: flag('requestheader-username-headers', texts, {
    default: ['x-remote-user'],
    description: 'Headers in which the front proxy names the user; the first that has a value counts.',
    ruleBrokenBy: noneEmpty,
  }),
  requestheaderUidHeaders: flag('requestheader-uid-headers', texts, {
    default: [],
    description: 'Headers in which the front proxy gives the UID of the user, X-Remote-Uid for one.',
    ruleBrokenBy: noneEmpty,
  }),
  requestheaderGroupHeaders: flag('requestheader-group-headers', texts, {
    default: ['x-remote-group'],
    description: 'Headers in which the front proxy names groups of the user.',
    ruleBrokenBy: noneEmpty,
  }),
  requestheaderExtraHeadersPrefix: flag('requestheader-extra-headers-prefix', texts, {
    default: ['x-remote-extra-'],
    description: 'Beginnings of headers in which the front proxy tells more about the user.',
    ruleBrokenBy: noneEmpty,
  }),
};

function noneEmpty(names: readonly string[]): string | undefined {
  return names.every((name) => name.trim() !== '') ? undefined : 'must not have an empty name';
}
