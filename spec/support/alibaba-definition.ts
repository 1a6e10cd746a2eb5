import type { NewObject } from '#simulator/objects/kubernetes-object.ts';

const TEXT = { type: 'string' };
const COUNT = { type: 'integer', format: 'int32' };
const FLAG = { type: 'boolean' };
const TEXTS = { type: 'array', items: TEXT };
const TARGET = object({ apiVersion: TEXT, kind: TEXT, name: TEXT }, ['apiVersion', 'kind', 'name']);
const JOB = { name: TEXT, schedule: TEXT, targetSize: COUNT, runOnce: FLAG };

/**
 * A CustomResourceDefinition with the fields of kubernetes-cronhpa-controller: without the subresource `status`, and
 * without other fields than these.
 */
export const ALIBABA_DEFINITION: NewObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'cronhorizontalpodautoscalers.autoscaling.alibabacloud.com' },
  spec: {
    group: 'autoscaling.alibabacloud.com',
    scope: 'Namespaced',
    names: {
      kind: 'CronHorizontalPodAutoscaler',
      listKind: 'CronHorizontalPodAutoscalerList',
      plural: 'cronhorizontalpodautoscalers',
      singular: 'cronhorizontalpodautoscaler',
    },
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: object({
            spec: object(
              {
                cronMode: { type: 'string', enum: ['Enable', 'Disable'], default: 'Enable' },
                excludeDates: TEXTS,
                jobs: list(object(JOB, ['name', 'schedule', 'targetSize'])),
                scaleTargetRef: TARGET,
              },
              ['jobs', 'scaleTargetRef'],
            ),
            status: object({
              ...{ cronMode: TEXT, excludeDates: TEXTS, scaleTargetRef: TARGET },
              conditions: list(
                object(
                  {
                    ...{ ...JOB, jobId: TEXT, message: TEXT, state: TEXT },
                    lastProbeTime: { type: 'string', format: 'date-time' },
                  },
                  ['jobId', 'lastProbeTime', 'name', 'runOnce', 'schedule', 'state', 'targetSize'],
                ),
              ),
            }),
          }),
        },
      },
    ],
  },
};

function object(properties: object, required?: readonly string[]): object {
  return { type: 'object', properties, ...(required && { required }) };
}

function list(items: object): object {
  return { type: 'array', items };
}
