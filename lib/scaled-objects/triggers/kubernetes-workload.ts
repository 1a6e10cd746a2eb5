import { z } from 'zod';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { messageOf } from '#lib/telemetry/error-text.ts';
import type { ListPods } from './cluster-lookups.ts';
import { boolean, float, parameter, text } from './parameters/parameter.ts';
import { above, defineTrigger, neededTarget, oneMetric, REQUIRED_TARGET, type Trigger } from './trigger.ts';

const parameters = z.object({
  podSelector: parameter(text, 'Label selector of the pods.'),
  value: parameter(float.optional(), `Target number of pods per replica; ${REQUIRED_TARGET}.`),
  activationValue: parameter(float.default(0), 'The trigger is active above this value.'),
  groupByNode: parameter(
    boolean.default(false),
    'Whether to count the nodes that the pods run on, instead of the pods.',
  ),
});

/** Number of pods in the namespace of the object that match a selector. */
export function kubernetesWorkloadTrigger({ listPods }: { readonly listPods: ListPods }): Trigger {
  return defineTrigger({
    types: ['kubernetes-workload'],
    scalerName: () => 'kubernetesWorkloadScaler',
    description:
      'The number of pods that match a label selector, in the namespace of the object. Pods that have succeeded or failed do not count.',
    parameters,
    plan({ podSelector, value, activationValue, groupByNode }, request) {
      try {
        parseLabelSelector(podSelector);
      } catch (cause) {
        throw new Error(`invalid pod selector: ${messageOf(cause)}`, {
          cause,
        });
      }
      const message = 'value must be a float greater than 0';
      const target = neededTarget(value, request, message);
      if (target < 0) throw new Error(message);
      const { namespace } = request;
      return oneMetric({
        name: `workload-${namespace}`,
        query: {
          key: JSON.stringify(['kubernetes-workload', namespace, podSelector, groupByNode]),
          description: `${groupByNode ? 'nodes of pods' : 'pods'} ${podSelector.slice(0, 200)} in ${namespace}`,
          source: 'API server',
          async run(signal) {
            const pods = await listPods(namespace, podSelector, signal);
            const nodes = new Set(pods.map(({ nodeName }) => nodeName).filter((name) => name !== ''));
            return [{ value: groupByNode ? nodes.size : pods.length, labels: {} }];
          },
        },
        target,
        evaluate: above(activationValue),
      });
    },
  });
}
