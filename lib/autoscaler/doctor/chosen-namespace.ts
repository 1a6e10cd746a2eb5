import { type Check, ok } from '#lib/doctor/check.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { failed } from './diagnoses.ts';

/** Whether there is the namespace whose objects alone are looked at: of a misspelt one, nothing would be found wrong. */
export function chosenNamespace(namespace: string): Check {
  const subject = `namespace ${namespace}`;
  return {
    name: 'namespace',
    title: 'Namespace',

    async run(context) {
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
      try {
        await context.get(path, `get namespaces ${namespace}`);
      } catch (error) {
        if (!(error instanceof ApiError) || error.statusCode !== 404) throw error;
        return [
          failed(subject, 'the API server has none of this name', {
            diagnosis: 'namespace-absent',
            NAMESPACE: namespace,
          }),
        ];
      }
      return [ok(subject, 'exists: its objects alone are looked at')];
    },
  };
}
