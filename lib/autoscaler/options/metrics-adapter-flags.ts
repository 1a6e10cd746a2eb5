import { boolean, decimal, duration, flag, integer, notNegative, positive, text } from '#lib/flags/flag.ts';
import { parseListenAddress } from '#lib/flags/listen-address.ts';
import { TimeZone } from '#lib/schedule/time-zone.ts';

/** What is collected for HPAs and served, by the names that kube-metrics-adapter has. */
export const metricsAdapterFlags = {
  enableCustomMetricsApi: flag('enable-custom-metrics-api', boolean, {
    default: true,
    description: 'Serve custom.metrics.k8s.io.',
  }),
  enableExternalMetricsApi: flag('enable-external-metrics-api', boolean, {
    default: true,
    description: 'Serve external.metrics.k8s.io.',
  }),
  defaultCollectionIntervalMs: flag('default-collection-interval', duration, {
    default: 60_000,
    description: 'How often a source is asked where an HPA does not say it.',
    ruleBrokenBy: atLeastOneSecond,
  }),
  metricsTtlMs: flag('metrics-ttl', duration, {
    default: 900_000,
    description: 'For how long a value counts at most; three intervals of its collector where that is less.',
    ruleBrokenBy: positive,
  }),
  resourceUpdateIntervalMs: flag('resource-update-interval', duration, {
    default: 30_000,
    description: 'How often HPAs are listed where they may not be watched.',
    ruleBrokenBy: atLeastOneSecond,
  }),
  disregardIncompatibleHpas: flag('disregard-incompatible-hpas', boolean, {
    default: false,
    description: 'Keep silent about metrics whose collector is not known here.',
  }),
  scalingSchedule: flag('scaling-schedule', boolean, {
    default: false,
    description: 'Scale by ScalingSchedules and ClusterScalingSchedules.',
  }),
  scalingScheduleWindowMs: flag('scaling-schedule-default-scaling-window', duration, {
    default: 600_000,
    description: 'For how long a value is raised to before its time, where a schedule does not say it.',
    ruleBrokenBy: notNegative,
  }),
  scalingScheduleRampSteps: flag('scaling-schedule-ramp-steps', integer, {
    default: 10,
    description: 'In how many steps it is.',
    ruleBrokenBy: positive,
  }),
  scalingScheduleTimeZone: flag('scaling-schedule-default-time-zone', text, {
    default: 'Europe/Berlin',
    description: 'Where its times are meant, where a schedule does not say it.',
    ruleBrokenBy: (name) => {
      try {
        TimeZone.named(name);
        return undefined;
      } catch {
        return 'must be the name of a zone of the IANA database, such as Europe/Berlin';
      }
    },
  }),
  listerKubeconfig: flag('lister-kubeconfig', text, {
    default: '',
    description: 'The same as --kubeconfig.',
  }),
  kubeClientQps: flag('kube-client-qps', decimal, {
    default: 0,
    description: 'The same as --kube-api-qps; 0 for what that says.',
    ruleBrokenBy: notNegative,
  }),
  kubeClientBurst: flag('kube-client-burst', integer, {
    default: 0,
    description: 'The same as --kube-api-burst; 0 for what that says.',
    ruleBrokenBy: notNegative,
  }),
  metricsAddress: flag('metrics-address', text, {
    default: '',
    description:
      'Where series are served over plain HTTP to everybody, too, as in :7979; by default nowhere: they are at /metrics of the secure port.',
    ruleBrokenBy: (address) =>
      address === '' || parseListenAddress(address) ? undefined : 'must be HOST:PORT or :PORT',
  }),
  garbageCollectorInterval: flag<number>('garbage-collector-interval', duration, {
    default: 600_000,
    description: '',
    ignoredBecause: 'a value that counts no more is not served from that moment on',
  }),
};

function atLeastOneSecond(intervalMs: number): string | undefined {
  return intervalMs >= 1000 ? undefined : 'must be at least 1s';
}
