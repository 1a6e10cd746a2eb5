import * as z from 'zod';
import { type Check, note, ok } from '#lib/doctor/check.ts';
import type { ClusterContext } from '#lib/doctor/cluster-context.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { pathSegment } from '#lib/kubernetes/path-segment.ts';
import { failed } from './diagnoses.ts';

const API_SERVICE = 'v1beta1.external.metrics.k8s.io';
const PATH = `/apis/apiregistration.k8s.io/v1/apiservices/${API_SERVICE}`;
const OURS = 'autoscaler';

const API_SERVICE_SCHEMA = z.object({
  spec: z.object({ service: z.object({ namespace: z.string(), name: z.string() }).nullish() }),
});
/** An APIService without a Service is one of the API server. */
const ITSELF = { namespace: 'kube-system', name: 'kube-apiserver' };

/** Checks that the APIService of external metrics refers to the autoscaler. */
export const metricsProvider: Check = {
  name: 'scaledobjects-metrics-provider',
  title: 'Provider of external metrics',

  async run(context) {
    const found = await context
      .get(PATH, 'get apiservices.apiregistration.k8s.io')
      .catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
    if (found === undefined)
      return [note(API_SERVICE, 'not registered: HPAs of ScaledObjects have no values')];
    const { service } = readAs(API_SERVICE_SCHEMA, 'the APIService', found).spec;
    const { namespace, name } = service ?? ITSELF;
    if (service && (await isOurs(context, namespace, name)))
      return [ok(API_SERVICE, `served by ${namespace}/${name}`)];
    return [
      failed(API_SERVICE, `served by ${namespace}/${name}`, {
        ...{ diagnosis: 'scaledobjects-other-provider', NAMESPACE: namespace, NAME: name },
      }),
    ];
  },
};

/** Services of the autoscaler are recognized by name or by the label `app.kubernetes.io/name`. */
async function isOurs(context: ClusterContext, namespace: string, name: string): Promise<boolean> {
  if (name === OURS) return true;
  const path = `/api/v1/namespaces/${pathSegment(namespace)}/services/${pathSegment(name)}`;
  const service = await context.get(path, 'get services').catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  const labels = propertyOf(propertyOf(service, 'metadata'), 'labels');
  return propertyOf(labels, 'app.kubernetes.io/name') === OURS;
}
