import { boolean, decimal, flag, integer, positive, text, texts } from '#lib/flags/flag.ts';
import { TimeZone } from '#lib/schedule/time-zone.ts';
import { CONTROLLER_NAMES, selectControllers } from '../controller-names.ts';

/** What the autoscaler does, and of which cluster. */
export const generalFlags = {
  kubeconfig: flag('kubeconfig', text, {
    default: '',
    description: "Kubeconfig file for the API server; by default the pod's service account is used.",
  }),
  controllers: flag('controllers', texts, {
    default: ['*'],
    description:
      `Which controllers run, of ${CONTROLLER_NAMES.join(', ')}: * is all that are on by default, a name one of them, ` +
      'and -name all but that one. One whose kind the API server does not serve waits for it.',
    validate: (list) => {
      const selected = selectControllers(list);
      return typeof selected === 'string' ? selected : undefined;
    },
  }),
  concurrentCronHpaSyncs: flag('concurrent-cron-hpa-syncs', integer, {
    default: 5,
    description: 'How many CronHorizontalPodAutoscalers are reconciled at once.',
    validate: positive,
  }),
  cronHpaTimeZone: flag('cron-hpa-time-zone', text, {
    default: 'UTC',
    description:
      'Where the times of cron jobs are meant that have no timeZone, by its name in the IANA database.',
    validate: (name) => {
      try {
        TimeZone.named(name);
        return undefined;
      } catch {
        return 'must be the name of a zone of the IANA database, such as Europe/Berlin';
      }
    },
  }),
  kubeApiQps: flag('kube-api-qps', decimal, {
    default: 50,
    description:
      'How many requests a second controllers may send to the API server on average, and beside them as many for what triggers refer to; namespaces get theirs sent round robin.',
    validate: positive,
  }),
  kubeApiBurst: flag('kube-api-burst', integer, {
    default: 100,
    description: 'How many they may send at once.',
    validate: positive,
  }),
  dryRun: flag('dry-run', boolean, {
    default: false,
    description:
      'Decide as usual and write nothing: no scales, objects, statuses, events or lease. What would be done is logged once, and again ' +
      'once it is something else; decisions are at /debug/ and in series.',
  }),
  version: flag('version', boolean, { default: false, description: 'Print the version and exit.' }),
  help: flag('help', boolean, { shorthand: 'h', default: false, description: 'Print this help and exit.' }),
};
