import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import { CRON_HPA } from './cron-hpa.ts';

/** Where CronHorizontalPodAutoscalers are. */
export const CRON_HPAS: ApiResource = { ...CRON_HPA, namespaced: true, subresources: ['status'] };

/** HPAs in the oldest version, which all servers have: more of them than the replicas are of no interest. */
export const HPAS: ApiResource = {
  group: 'autoscaling',
  version: 'v1',
  kind: 'HorizontalPodAutoscaler',
  plural: 'horizontalpodautoscalers',
  namespaced: true,
};

/** Under which name the API server knows our changes. */
export const FIELD_MANAGER = 'autoscaler-cronhpa';
