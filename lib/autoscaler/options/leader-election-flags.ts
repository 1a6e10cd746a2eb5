import { boolean, duration, flag, positive, text } from '#lib/flags/flag.ts';

/** Which one of several replicas acts. */
export const leaderElectionFlags = {
  leaderElect: flag('leader-elect', boolean, {
    default: true,
    description: 'Act only while holding the lease, so that several replicas can run.',
  }),
  leaseDurationMs: flag('leader-elect-lease-duration', duration, {
    default: 15_000,
    description: 'For how long others leave a holder alone that they do not hear of.',
  }),
  renewDeadlineMs: flag('leader-elect-renew-deadline', duration, {
    default: 10_000,
    description:
      'For how long a holder that cannot renew the lease goes on acting; shorter than its duration.',
  }),
  retryPeriodMs: flag('leader-elect-retry-period', duration, {
    default: 2_000,
    description: 'How often the lease is renewed, or looked at.',
    ruleBrokenBy: positive,
  }),
  leaseName: flag('leader-elect-resource-name', text, {
    default: 'autoscaler',
    description: 'The name of the Lease.',
    ruleBrokenBy: notEmpty,
  }),
  leaseNamespace: flag('leader-elect-resource-namespace', text, {
    default: 'kube-system',
    description: 'Its namespace.',
    ruleBrokenBy: notEmpty,
  }),
};

function notEmpty(value: string): string | undefined {
  return value === '' ? 'must not be empty' : undefined;
}
