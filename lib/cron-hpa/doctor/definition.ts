import { type Check, ok } from '#lib/doctor/check.ts';
import { formatApiVersion } from '#lib/kubernetes/client/api-resource.ts';
import { CRON_HPA } from '../cron-hpa.ts';
import { failed } from './examination.ts';

/** Checks that the API server serves CronHorizontalPodAutoscalers with a status subresource. */
export const definition: Check = {
  name: 'cronhpa-definition',
  title: 'Definition of CronHorizontalPodAutoscalers',

  async run({ mapper, signal }) {
    const { group, kind, plural } = CRON_HPA;
    const apiVersion = formatApiVersion(CRON_HPA);
    const subject = `${plural}.${group}`;
    const resource = await mapper.findExact({ apiVersion, kind }, signal);
    if (!resource) {
      return [
        failed(subject, `the API server does not serve ${apiVersion}`, {
          diagnosis: 'cronhpa-definition-missing',
        }),
      ];
    }
    const hasStatus = resource.subresources?.includes('status') ?? true;
    return hasStatus
      ? [ok(subject, `served as ${apiVersion}`)]
      : [
          failed(subject, `${apiVersion} has no status subresource`, {
            diagnosis: 'cronhpa-definition-differs',
          }),
        ];
  },
};
