import { Informer, type InformerOptions } from '#lib/kubernetes/informer/informer.ts';
import { logOmitted } from '#lib/kubernetes/informer/log-omitted.ts';
import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { MAX_LABELS_BYTES, OMITTED_LABELS, sizeOfTexts } from '#lib/kubernetes/objects/text-size.ts';
import { parseThousandths } from '#lib/kubernetes/quantity.ts';

interface NodeCacheOptions extends Pick<InformerOptions<LiveNode>, 'client' | 'clock' | 'logger'> {
  /** A label selector; empty or absent selects all nodes. */
  readonly selector?: string | undefined;
}

const LABELS_OMITTED =
  'Serving the metrics of this node without its labels, because the labels are too long to cache';

/** An informer of the nodes that a label selector selects. */
export class NodeCache extends Informer<LiveNode> implements LiveNodes {
  constructor({ client, clock, logger, selector }: NodeCacheOptions) {
    const collection = { path: '/api/v1/nodes', labelSelector: selector };
    super({ client, clock, logger, collection, transform: reduceNode });
    logOmitted(this, { clock, logger, kind: 'Node', message: LABELS_OMITTED });
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
  /** What pods may use, as `kubectl top node` compares with; whole numbers, since they take the least memory. */
  readonly allocatableMillicores?: number;
  readonly allocatableMemoryKib?: number;
  /** Why it is served without its labels; absent if it has them. */
  readonly omitted?: string;
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
/** A kubelet writes quantities of up to 20 characters. */
const MAX_QUANTITY_LENGTH = 40;
const MAX_PATH_LENGTH = 1024;

/** Selects the cached part of a Node; malformed fields count as absent. */
export function reduceNode(node: unknown): LiveNode | undefined {
  const metadata = propertyOf(node, 'metadata');
  const name = propertyOf(metadata, 'name');
  if (typeof name !== 'string') return undefined;
  const status = propertyOf(node, 'status');
  const allocatable = propertyOf(status, 'allocatable');
  const millicores = readThousandths(propertyOf(allocatable, 'cpu'));
  const memory = readThousandths(propertyOf(allocatable, 'memory'));
  const labels = readTexts(propertyOf(metadata, 'labels'));
  const isBounded = sizeOfTexts(labels) <= MAX_LABELS_BYTES;
  return {
    name,
    labels: isBounded ? labels : {},
    addresses: readAddresses(status),
    kubeletPort: readKubeletPort(status),
    resourceMetricsPath: readPath(propertyOf(metadata, 'annotations')),
    ...(millicores !== undefined && { allocatableMillicores: millicores }),
    ...(memory !== undefined && { allocatableMemoryKib: Math.floor(memory / 1000 / 1024) }),
    ...(!isBounded && { omitted: OMITTED_LABELS }),
  };
}

/** Reads a positive quantity; others count as absent. */
function readThousandths(quantity: unknown): number | undefined {
  if (typeof quantity !== 'string' || quantity.length > MAX_QUANTITY_LENGTH) return undefined;
  try {
    const thousandths = Number(parseThousandths(quantity));
    return thousandths > 0 ? thousandths : undefined;
  } catch {
    return undefined;
  }
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
  return typeof path === 'string' && path.startsWith('/') && path.length <= MAX_PATH_LENGTH
    ? path
    : undefined;
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
