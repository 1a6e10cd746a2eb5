import { type Check, note, ok } from '#lib/doctor/check.ts';
import type { ApiContext } from '#lib/doctor/cluster-context.ts';
import { formatApiVersion } from '#lib/kubernetes/client/api-resource.ts';
import { FOLLOWED_KINDS } from '../api/resources.ts';
import { failed } from './diagnoses.ts';

/** Whether the API server knows what there is to be followed; a cluster without any of it needs none of it. */
export const definitions: Check = {
  name: 'scaledobjects-definitions',
  title: 'Definitions of keda.sh',

  async run(context) {
    const served = await servedKinds(context);
    if (!served.includes(true))
      return [note('keda.sh', 'no definition is installed: nothing is scaled by events')];
    return FOLLOWED_KINDS.map((resource, index) => {
      const apiVersion = formatApiVersion(resource);
      const subject = `${resource.plural}.${resource.group}`;
      if (served[index]) return ok(subject, `served as ${apiVersion}`);
      const diagnosis = 'scaledobjects-definition-missing';
      return failed(subject, `the API server does not serve ${apiVersion}`, { diagnosis });
    });
  },
};

/** Whether any kind is served: where none is, there is nothing to be done, and so nothing that is missing for it. */
export async function isAnyServed(context: ApiContext): Promise<boolean> {
  return (await servedKinds(context)).includes(true);
}

/** Has a check look only where there can be objects: elsewhere nothing that it could find matters. */
export function whereServed({ run, ...check }: Check): Check {
  return {
    ...check,
    async run(context) {
      if (await isAnyServed(context)) return await run(context);
      return [note('keda.sh', 'no definition is installed: this is not looked at')];
    },
  };
}

async function servedKinds({ mapper, signal }: ApiContext): Promise<readonly boolean[]> {
  return await Promise.all(
    FOLLOWED_KINDS.map(async (resource) => {
      const reference = { apiVersion: formatApiVersion(resource), kind: resource.kind };
      return (await mapper.findExact(reference, signal)) !== undefined;
    }),
  );
}
