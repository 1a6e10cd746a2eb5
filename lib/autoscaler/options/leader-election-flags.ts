import { boolean, duration, flag, positive, text } from '#lib/flags/flag.ts';

export const leaderElectionFlags = {
  leaderElect: flag('leader-elect', boolean, {
    default: true,
    description:
      'Run controllers only in the replica that holds the lease, so that several replicas can run.',
  }),
  leaseDurationMs: flag('leader-elect-lease-duration', duration, {
    default: 15_000,
    description:
      'Time after the last renewal of the lease after which another replica may acquire the lease.',
  }),
  renewDeadlineMs: flag('leader-elect-renew-deadline', duration, {
    default: 10_000,
    description:
      'How long the leader tries to renew the lease before it stops leading. Must be shorter than the lease duration, and longer than 1.2 times the retry period.',
  }),
  retryPeriodMs: flag('leader-elect-retry-period', duration, {
    default: 2_000,
    description: 'How often the leader renews the lease, and the other replicas check it.',
    validate: positive,
  }),
  leaseName: flag('leader-elect-resource-name', text, {
    default: 'autoscaler',
    description: 'The name of the Lease.',
    validate: notEmpty,
  }),
  leaseNamespace: flag('leader-elect-resource-namespace', text, {
    default: 'kube-system',
    description: 'The namespace of the Lease.',
    validate: notEmpty,
  }),
};

function notEmpty(value: string): string | undefined {
  return value === '' ? 'must not be empty' : undefined;
}
