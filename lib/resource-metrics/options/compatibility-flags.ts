import { type FlagKind, type FlagSet, flag } from '#lib/flags/flag.ts';
import { boolean, decimal, duration, integer, text } from '#lib/flags/flag-kinds.ts';

const NO_MEANING = 'no meaning in this program';
const NO_AUDIT_LOG = 'the API server audits what comes through it';

/** Flags of metrics-server that are accepted, so that its manifests run unchanged, and have no effect. */
export const compatibilityFlags: FlagSet = {
  ...ignored(NO_MEANING, boolean, [
    'contention-profiling',
    'enable-priority-and-fairness',
    'log-json-split-stream',
    'log-text-split-stream',
    'permit-address-sharing',
    'permit-port-sharing',
    'profiling',
  ]),
  ...ignored(NO_MEANING, duration, ['log-flush-frequency']),
  ...ignored(NO_MEANING, text, [
    'debug-socket-path',
    'log-json-info-buffer-size',
    'log-text-info-buffer-size',
    'vmodule',
  ]),
  ...ignored(NO_AUDIT_LOG, text, [
    'audit-log-format',
    'audit-log-mode',
    'audit-log-path',
    'audit-log-version',
    'audit-policy-file',
    'audit-webhook-config-file',
    'audit-webhook-mode',
    'audit-webhook-version',
  ]),
  ...ignored(NO_AUDIT_LOG, boolean, [
    'audit-log-batch-throttle-enable',
    'audit-log-compress',
    'audit-log-truncate-enabled',
    'audit-webhook-batch-throttle-enable',
    'audit-webhook-truncate-enabled',
  ]),
  ...ignored(NO_AUDIT_LOG, integer, [
    'audit-log-batch-buffer-size',
    'audit-log-batch-max-size',
    'audit-log-batch-throttle-burst',
    'audit-log-maxage',
    'audit-log-maxbackup',
    'audit-log-maxsize',
    'audit-log-truncate-max-batch-size',
    'audit-log-truncate-max-event-size',
    'audit-webhook-batch-buffer-size',
    'audit-webhook-batch-max-size',
    'audit-webhook-batch-throttle-burst',
    'audit-webhook-truncate-max-batch-size',
    'audit-webhook-truncate-max-event-size',
  ]),
  ...ignored(NO_AUDIT_LOG, decimal, ['audit-log-batch-throttle-qps', 'audit-webhook-batch-throttle-qps']),
  ...ignored(NO_AUDIT_LOG, duration, [
    'audit-log-batch-max-wait',
    'audit-webhook-batch-max-wait',
    'audit-webhook-initial-backoff',
  ]),
};

function ignored(because: string, kind: FlagKind<unknown>, names: readonly string[]): FlagSet {
  const facts = { default: undefined, description: '', ignoredBecause: because }; // nobody asks for its value
  return Object.fromEntries(names.map((name) => [name, flag(name, kind, facts)]));
}
