import { Informer, type InformerOptions } from '#lib/kubernetes/informer/informer.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';

/** What a node cache works with. */
interface NodeCacheOptions extends Pick<InformerOptions<LiveNode>, 'client' | 'clock' | 'logger'> {
  /** A label selector; empty or absent admits every node. */
  readonly selector?: string | undefined;
}

/** Follows the cluster's nodes, or those that a label selector admits. */
export class NodeCache extends Informer<LiveNode> implements LiveNodes {
  constructor({ client, clock, logger, selector }: NodeCacheOptions) {
    const collection = { path: '/api/v1/nodes', labelSelector: selector };
    super({ client, clock, logger, collection, transform: reduceNode });
  }
}

/** One address of a node, as its status lists it. */
interface NodeAddress {
  /** Hostname, InternalDNS, InternalIP, ExternalDNS or ExternalIP. */
  readonly type: string;
  readonly address: string;
}

/** What this program keeps of a Node object; the same object for as long as none of it changes. */
export interface LiveNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly addresses: readonly NodeAddress[];
  /** `status.daemonEndpoints.kubeletEndpoint.Port`; `undefined` where absent or 0. */
  readonly kubeletPort: number | undefined;
  /** Where its kubelet reports resources, if not at `/metrics/resource`: an annotation of that name. */
  readonly resourceMetricsPath: string | undefined;
}

/** The nodes that the API server knows and the node selector admits, kept current by a watch. */
export interface LiveNodes {
  /** Whether the first list has been read completely. */
  readonly isSynced: boolean;
  /** Another number whenever something of it has changed. */
  readonly revision: number;
  get(name: string): LiveNode | undefined;
  values(): Iterable<LiveNode>;
}

/** By this virtual kubelets name a path of their own. */
const RESOURCE_METRICS_PATH = 'metrics.k8s.io/resource-metrics-path';

/**
 * A kubelet writes its own addresses, of which 1.5 MiB hold thirty thousand; each is compared with all names of its certificate.
 * The first of its type is the one that counts most.
 */
const MAX_ADDRESSES = 32;
const MAX_ADDRESSES_OF_TYPE = 8;
/** Of a DNS name. */
const MAX_ADDRESS_LENGTH = 253;

/** Keeps of a Node object what this program uses; what is malformed counts as absent. */
export function reduceNode(node: unknown): LiveNode | undefined {
  const metadata = propertyOf(node, 'metadata');
  const name = propertyOf(metadata, 'name');
  if (typeof name !== 'string') return undefined;
  const status = propertyOf(node, 'status');
  return {
    name,
    labels: textsOf(propertyOf(metadata, 'labels')),
    addresses: addressesOf(status),
    kubeletPort: kubeletPortOf(status),
    resourceMetricsPath: pathOf(propertyOf(metadata, 'annotations')),
  };
}

function textsOf(labels: unknown): Readonly<Record<string, string>> {
  if (typeof labels !== 'object' || labels === null) return {};
  return Object.fromEntries(Object.entries(labels).filter(([, value]) => typeof value === 'string'));
}

function addressesOf(status: unknown): readonly NodeAddress[] {
  const addresses: NodeAddress[] = [];
  const countByType = new Map<string, number>();
  for (const address of listOf(propertyOf(status, 'addresses')).flatMap(addressOf)) {
    const count = (countByType.get(address.type) ?? 0) + 1;
    if (count > MAX_ADDRESSES_OF_TYPE || address.address.length > MAX_ADDRESS_LENGTH) continue;
    countByType.set(address.type, count);
    if (addresses.push(address) === MAX_ADDRESSES) break;
  }
  return addresses;
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
