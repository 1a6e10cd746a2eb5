import { boolean, decimal, flag, integer, positive, text, texts } from '#lib/flags/flag.ts';
import { TimeZone } from '#lib/schedule/time-zone.ts';
import { CONTROLLER_NAMES, DEFAULT_CONTROLLERS, selectControllers } from '../subsystems.ts';

export const generalFlags = {
  kubeconfig: flag('kubeconfig', text, {
    default: '',
    description: "Kubeconfig file for the API server; by default the pod's service account is used.",
  }),
  controllers: flag('controllers', texts, {
    default: ['*'],
    description: `Controllers to run: ${CONTROLLER_NAMES.join(', ')}. * enables ${DEFAULT_CONTROLLERS.join(' and ')}, NAME enables one, and -NAME disables one. A controller waits until the API server serves its kind.`,
    validate: (list) => {
      const selected = selectControllers(list);
      return typeof selected === 'string' ? selected : undefined;
    },
  }),
  concurrentCronHpaSyncs: flag('concurrent-cron-hpa-syncs', integer, {
    default: 5,
    description: 'Concurrent reconciliations of CronHorizontalPodAutoscalers.',
    validate: positive,
  }),
  alibabaCronHpas: flag('alibaba-cron-hpas', boolean, {
    default: false,
    description:
      'Also run the CronHorizontalPodAutoscalers of kubernetes-cronhpa-controller (autoscaling.alibabacloud.com/v1beta1).',
  }),
  cronHpaTimeZone: flag('cron-hpa-time-zone', text, {
    default: 'UTC',
    description: 'Time zone of the jobs of Cron-HPAs that set no timeZone, as a name of the IANA database.',
    validate: (name) => {
      try {
        TimeZone.named(name);
        return undefined;
      } catch {
        return 'must be a time zone of the IANA database, such as Europe/Berlin';
      }
    },
  }),
  kubeApiQps: flag('kube-api-qps', decimal, {
    default: 50,
    description:
      'Maximum number of requests per second that the controllers send to the API server. Reads of objects that triggers refer to have a separate limit of the same size. Namespaces are served round robin.',
    validate: positive,
  }),
  kubeApiBurst: flag('kube-api-burst', integer, {
    default: 100,
    description: 'Maximum burst of the requests that --kube-api-qps limits.',
    validate: positive,
  }),
  dryRun: flag('dry-run', boolean, {
    default: false,
    description:
      'Decide as usual, but write nothing: no scales, objects, statuses, events or leases. Each change that would be made is logged once, and again if the change differs. /debug/ and the Prometheus metrics show the decisions.',
  }),
  version: flag('version', boolean, { default: false, description: 'Print the version and exit.' }),
  help: flag('help', boolean, { shorthand: 'h', default: false, description: 'Print this help and exit.' }),
};
