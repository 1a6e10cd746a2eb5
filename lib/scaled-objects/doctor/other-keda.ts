import type { Check } from '#lib/doctor/check.ts';
import { ok } from '#lib/doctor/finding.ts';
import { propertyOf } from '#lib/kubernetes/object-metadata.ts';
import { failed } from './diagnoses.ts';

/** KEDA's operator by its name, or by its image. */
const NAME = 'keda-operator';
const IMAGE = /(?:^|\/)kedacore\/keda(?:[:@]|$)/;

/** Whether KEDA runs beside us. */
export const otherKeda: Check = {
  name: 'scaledobjects-keda',
  title: 'Other controllers of ScaledObjects',

  async run(context) {
    const path = '/apis/apps/v1/deployments';
    const found = await context.list('deployments.apps', { path }, operatorOf);
    const running = found.filter(({ replicas }) => replicas > 0);
    if (running.length === 0) {
      const seen = found.length > 0 ? 'KEDA is scaled to zero' : 'there is no KEDA';
      return [ok('keda-operator', seen)];
    }
    return running.map(({ namespace, name, replicas }) =>
      failed(`deployment ${namespace}/${name}`, `it is to have ${replicas} replicas`, {
        ...{ diagnosis: 'scaledobjects-keda-runs', NAMESPACE: namespace, NAME: name },
      }),
    );
  },
};

function operatorOf(value: unknown) {
  const metadata = propertyOf(value, 'metadata');
  const [name, namespace] = [`${propertyOf(metadata, 'name')}`, `${propertyOf(metadata, 'namespace')}`];
  const spec = propertyOf(value, 'spec');
  const containers = propertyOf(propertyOf(propertyOf(spec, 'template'), 'spec'), 'containers');
  const images = Array.isArray(containers) ? containers.map((one) => `${propertyOf(one, 'image')}`) : [];
  if (name !== NAME && !images.some((image) => IMAGE.test(image))) return undefined;
  const replicas = propertyOf(spec, 'replicas');
  return { namespace, name, replicas: typeof replicas === 'number' ? replicas : 1 };
}
