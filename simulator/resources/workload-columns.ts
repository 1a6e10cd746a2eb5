import { fieldAt, type KubernetesObject } from '../objects/kubernetes-object.ts';
import { formatSelector } from '../objects/label-selector.ts';
import { AGE, type Column, count, listAt, NAME, NONE, numberAt, text, textAt } from './column.ts';

/** The columns of workloads and what scales them, by resource. */
export const WORKLOAD_COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  deployments: [
    NAME,
    text(
      'Ready',
      'Number of the pod with ready state',
      (one) => `${numberAt(one, 'status', 'readyReplicas')}/${numberAt(one, 'spec', 'replicas')}`,
    ),
    text(
      'Up-to-date',
      'How many pods are of the present template.',
      (one) => textAt(one, 'status', 'updatedReplicas') || '0',
    ),
    text(
      'Available',
      'How many pods are available.',
      (one) => textAt(one, 'status', 'availableReplicas') || '0',
    ),
    AGE,
    text('Selector', 'What its pods are selected by.', selectorText, 1),
  ],
  replicasets: [
    NAME,
    count('Desired', 'How many pods there should be.', 'spec', 'replicas'),
    count('Current', 'How many pods there are.', 'status', 'replicas'),
    count('Ready', 'How many pods are ready.', 'status', 'readyReplicas'),
    AGE,
    text('Selector', 'What its pods are selected by.', selectorText, 1),
  ],
  statefulsets: [
    NAME,
    text(
      'Ready',
      'How many pods are ready, of how many.',
      (one) => `${numberAt(one, 'status', 'readyReplicas')}/${numberAt(one, 'spec', 'replicas')}`,
    ),
    AGE,
  ],
  jobs: [
    NAME,
    text('Status', 'Running, Complete, Failed or Suspended.', jobStatus),
    text(
      'Completions',
      'How many pods have succeeded, of how many.',
      (one) => `${numberAt(one, 'status', 'succeeded')}/${textAt(one, 'spec', 'completions') || '1'}`,
    ),
    AGE,
  ],
  horizontalpodautoscalers: [
    NAME,
    text(
      'Reference',
      'What it scales.',
      (one) =>
        `${textAt(one, 'spec', 'scaleTargetRef', 'kind')}/${textAt(one, 'spec', 'scaleTargetRef', 'name')}`,
    ),
    count('MinPods', 'The least number of pods.', 'spec', 'minReplicas'),
    count('MaxPods', 'The greatest number of pods.', 'spec', 'maxReplicas'),
    count('Replicas', 'How many pods there are.', 'status', 'currentReplicas'),
    AGE,
  ],
};

function selectorText(object: KubernetesObject): string {
  return formatSelector(fieldAt(object, 'spec', 'selector')) || NONE;
}

function jobStatus(job: KubernetesObject): string {
  const holds = (type: string) =>
    listAt(job, 'status', 'conditions').some((one) => one.type === type && one.status === 'True');
  if (holds('Complete')) return 'Complete';
  if (holds('Failed')) return 'Failed';
  return fieldAt(job, 'spec', 'suspend') === true ? 'Suspended' : 'Running';
}
