import { propertyOf } from '#lib/kubernetes/object-metadata.ts';
import type { LiveNode, NodeAddress } from './live-nodes.ts';

/** By this virtual kubelets name a path of their own. */
const RESOURCE_METRICS_PATH = 'metrics.k8s.io/resource-metrics-path';

/** Keeps of a Node object what this program uses; what is malformed counts as absent. */
export function reduceNode(node: unknown): LiveNode | undefined {
  const metadata = propertyOf(node, 'metadata');
  const name = propertyOf(metadata, 'name');
  if (typeof name !== 'string') return undefined;
  const status = propertyOf(node, 'status');
  return {
    name,
    labels: textsOf(propertyOf(metadata, 'labels')),
    addresses: listOf(propertyOf(status, 'addresses')).flatMap(addressOf),
    kubeletPort: kubeletPortOf(status),
    resourceMetricsPath: pathOf(propertyOf(metadata, 'annotations')),
  };
}

function textsOf(labels: unknown): Readonly<Record<string, string>> {
  if (typeof labels !== 'object' || labels === null) return {};
  return Object.fromEntries(Object.entries(labels).filter(([, value]) => typeof value === 'string'));
}

function addressOf(address: unknown): readonly NodeAddress[] {
  const type = propertyOf(address, 'type');
  const value = propertyOf(address, 'address');
  return typeof type === 'string' && typeof value === 'string' ? [{ type, address: value }] : [];
}

function kubeletPortOf(status: unknown): number | undefined {
  const endpoint = propertyOf(propertyOf(status, 'daemonEndpoints'), 'kubeletEndpoint');
  const port = propertyOf(endpoint, 'Port');
  return typeof port === 'number' && port > 0 ? port : undefined;
}

function pathOf(annotations: unknown): string | undefined {
  const path = propertyOf(annotations, RESOURCE_METRICS_PATH);
  return typeof path === 'string' && path.startsWith('/') ? path : undefined;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
