import { boolean, duration, type FlagKind, type FlagSet, flag, text } from '#lib/flags/flag.ts';

/** Flags of the library that kube-metrics-adapter is made of, accepted so that its manifests run unchanged. */
export const compatibilityFlags: FlagSet = {
  ...ignored(boolean, [
    'contention-profiling',
    'enable-priority-and-fairness',
    'permit-address-sharing',
    'permit-port-sharing',
    'profiling',
  ]),
  ...ignored(duration, ['log-flush-frequency']),
  ...ignored(text, ['debug-socket-path', 'vmodule']),
};

function ignored(kind: FlagKind<unknown>, names: readonly string[]): FlagSet {
  const facts = { default: undefined, description: '', ignoredBecause: 'no meaning in this program' };
  return Object.fromEntries(names.map((name) => [name, flag(name, kind, facts)]));
}
