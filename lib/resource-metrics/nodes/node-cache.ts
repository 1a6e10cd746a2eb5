import { Informer, type InformerOptions } from '#lib/kubernetes/informer/informer.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';

interface NodeCacheOptions extends Pick<InformerOptions<LiveNode>, 'client' | 'clock' | 'logger'> {
  /** A label selector; empty or absent selects all nodes. */
  readonly selector?: string | undefined;
}

/** An informer of the nodes that a label selector selects. */
export class NodeCache extends Informer<LiveNode> implements LiveNodes {
  constructor({ client, clock, logger, selector }: NodeCacheOptions) {
    const collection = { path: '/api/v1/nodes', labelSelector: selector };
    super({ client, clock, logger, collection, transform: reduceNode });
  }
}

interface NodeAddress {
  /** Hostname, InternalDNS, InternalIP, ExternalDNS or ExternalIP. */
  readonly type: string;
  readonly address: string;
}

/** The cached part of a Node; the same object until a part of it changes. */
export interface LiveNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly addresses: readonly NodeAddress[];
  /** `status.daemonEndpoints.kubeletEndpoint.Port`; `undefined` where absent or 0. */
  readonly kubeletPort: number | undefined;
  /** Path of its kubelet's resource metrics, if not `/metrics/resource`; from an annotation. */
  readonly resourceMetricsPath: string | undefined;
}

/** Read access to the cached nodes. */
export interface LiveNodes {
  /** Whether the first list is complete. */
  readonly isSynced: boolean;
  /** Changes with every change of the nodes. */
  readonly revision: number;
  get(name: string): LiveNode | undefined;
  values(): Iterable<LiveNode>;
}

/** Annotation of virtual kubelets. */
const RESOURCE_METRICS_PATH = 'metrics.k8s.io/resource-metrics-path';

/**
 * Bounds the addresses, which a kubelet sets itself: 1.5 MiB contain thirty thousand, and each is compared with all
 * names of its certificate. The first of a type is preferred.
 */
const MAX_ADDRESSES = 32;
const MAX_ADDRESSES_OF_TYPE = 8;
/** Maximum length of a DNS name. */
const MAX_ADDRESS_LENGTH = 253;

/** Selects the cached part of a Node; malformed fields count as absent. */
export function reduceNode(node: unknown): LiveNode | undefined {
  const metadata = propertyOf(node, 'metadata');
  const name = propertyOf(metadata, 'name');
  if (typeof name !== 'string') return undefined;
  const status = propertyOf(node, 'status');
  return {
    name,
    labels: readTexts(propertyOf(metadata, 'labels')),
    addresses: readAddresses(status),
    kubeletPort: readKubeletPort(status),
    resourceMetricsPath: readPath(propertyOf(metadata, 'annotations')),
  };
}

function readTexts(labels: unknown): Readonly<Record<string, string>> {
  if (typeof labels !== 'object' || labels === null) return {};
  return Object.fromEntries(Object.entries(labels).filter(([, value]) => typeof value === 'string'));
}

function readAddresses(status: unknown): readonly NodeAddress[] {
  const addresses: NodeAddress[] = [];
  const countByType = new Map<string, number>();
  for (const address of asList(propertyOf(status, 'addresses')).flatMap(readAddress)) {
    const count = (countByType.get(address.type) ?? 0) + 1;
    if (count > MAX_ADDRESSES_OF_TYPE || address.address.length > MAX_ADDRESS_LENGTH) continue;
    countByType.set(address.type, count);
    if (addresses.push(address) === MAX_ADDRESSES) break;
  }
  return addresses;
}

function readAddress(address: unknown): readonly NodeAddress[] {
  const type = propertyOf(address, 'type');
  const value = propertyOf(address, 'address');
  return typeof type === 'string' && typeof value === 'string' ? [{ type, address: value }] : [];
}

function readKubeletPort(status: unknown): number | undefined {
  const endpoint = propertyOf(propertyOf(status, 'daemonEndpoints'), 'kubeletEndpoint');
  const port = propertyOf(endpoint, 'Port');
  return typeof port === 'number' && port > 0 ? port : undefined;
}

function readPath(annotations: unknown): string | undefined {
  const path = propertyOf(annotations, RESOURCE_METRICS_PATH);
  return typeof path === 'string' && path.startsWith('/') ? path : undefined;
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
