import type { KubernetesObject } from '../../objects/kubernetes-object.ts';
import { AGE, type Column, listAt, NAME, text, textAt } from '../columns.ts';
import { CORE_COLUMNS } from './core.ts';
import { WORKLOAD_COLUMNS } from './workloads.ts';

/** The columns of a resource as in the real server; name and age by default. */
export function columnsOf({
  resource,
  columns,
}: {
  readonly resource: string;
  readonly columns?: readonly Column[];
}): readonly Column[] {
  return columns ?? COLUMNS[resource] ?? [NAME, AGE];
}

const CREATED_AT: Column = { ...AGE, name: 'Created At', cell: ({ metadata }) => metadata.creationTimestamp };

const COLUMNS: Readonly<Record<string, readonly Column[]>> = {
  ...CORE_COLUMNS,
  ...WORKLOAD_COLUMNS,
  leases: [
    NAME,
    text('Holder', 'The identity of the holder.', (one) => textAt(one, 'spec', 'holderIdentity')),
    AGE,
  ],
  customresourcedefinitions: [NAME, CREATED_AT],
  roles: [NAME, CREATED_AT],
  clusterroles: [NAME, CREATED_AT],
  rolebindings: [NAME, text('Role', 'Which role it gives.', roleText), AGE],
  clusterrolebindings: [NAME, text('Role', 'Which role it gives.', roleText), AGE],
  apiservices: [
    NAME,
    text('Service', 'The service that serves this API', (one) => {
      const name = textAt(one, 'spec', 'service', 'name');
      return name ? `${textAt(one, 'spec', 'service', 'namespace')}/${name}` : 'Local';
    }),
    text('Available', 'Whether this service is available', apiServiceAvailability),
    AGE,
  ],
};

function roleText(binding: KubernetesObject): string {
  return `${textAt(binding, 'roleRef', 'kind')}/${textAt(binding, 'roleRef', 'name')}`;
}

function apiServiceAvailability(service: KubernetesObject): string {
  const available = listAt(service, 'status', 'conditions').find(({ type }) => type === 'Available');
  if (!available) return 'Unknown';
  return available.status === 'True' ? 'True' : `${available.status} (${available.reason})`;
}
