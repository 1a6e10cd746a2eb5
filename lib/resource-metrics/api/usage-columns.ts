import type { TableColumn } from '#lib/apiserver/api-group.ts';
import type { ServedObject } from '#lib/apiserver/objects/served-object.ts';
import { getOwn } from '#lib/kubernetes/get-own.ts';
import { formatCpuNanocores, formatMemoryBytes } from '#lib/kubernetes/quantity.ts';
import { formatDuration } from '#lib/time/duration.ts';
import type { Usage, UsageSpan } from './usage-types.ts';

/**
 * How `kubectl get` prints metrics.
 *
 * @param usageOf what an object uses in all
 * @param extraResources which resources have a column beside CPU and memory; what is not known of them is no 0
 */
export function usageColumns<Metrics extends ServedObject & { readonly usage: UsageSpan }>(
  usageOf: (metrics: Metrics) => Usage,
  extraResources: readonly string[] = [],
): readonly TableColumn<Metrics>[] {
  const quantity = { type: 'string', format: 'quantity', description: '', priority: 0 };
  const extraColumns = extraResources.map((name) => ({
    name,
    ...quantity,
    cell: (metrics: Metrics) => {
      const bytes = getOwn(usageOf(metrics).extraBytes, name);
      return bytes === undefined ? '<unknown>' : formatMemoryBytes(bytes);
    },
  }));
  const resources: TableColumn<Metrics>[] = [
    { name: 'cpu', ...quantity, cell: (metrics) => formatCpuNanocores(usageOf(metrics).cpuNanocores) },
    { name: 'memory', ...quantity, cell: (metrics) => formatMemoryBytes(usageOf(metrics).memoryBytes) },
    ...extraColumns,
  ];
  return [
    {
      name: 'Name',
      type: 'string',
      format: 'name',
      description: 'Name of the resource',
      priority: 0,
      cell: ({ name }) => name,
    },
    ...resources.sort((a, b) => (a.name < b.name ? -1 : 1)),
    { name: 'Window', ...quantity, format: 'duration', cell: ({ usage }) => formatDuration(usage.windowMs) },
  ];
}
