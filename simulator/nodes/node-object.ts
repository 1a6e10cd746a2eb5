import { formatTimestamp, type KubernetesObject, type NewObject } from '../objects/kubernetes-object.ts';

interface NodeFacts {
  readonly name: string;
  readonly ordinal: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly addresses: readonly { readonly type: string; readonly address: string }[];
  readonly kubeletPort: number;
  readonly cpuCores: number;
  readonly memoryBytes: number;
  /** 0 when swap is off. */
  readonly swapBytes: number;
  readonly isReady: boolean;
  readonly createdAtMs: number;
}

/** The kubelet version in the status of nodes. */
const KUBELET_VERSION = 'v1.34.2';

/** A Node as its kubelet and the node controller write it. */
export function nodeObject(facts: NodeFacts): NewObject {
  const createdAt = formatTimestamp(facts.createdAtMs);
  const podCidr = `10.${128 + (facts.ordinal >> 8)}.${facts.ordinal & 0xff}.0/24`;
  const memory = `${facts.memoryBytes / 1024}Ki`;
  return {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: {
      name: facts.name,
      creationTimestamp: createdAt,
      labels: {
        'beta.kubernetes.io/arch': 'amd64',
        'beta.kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': facts.name,
        'kubernetes.io/os': 'linux',
        ...facts.labels,
      },
      annotations: {
        'node.alpha.kubernetes.io/ttl': '0',
        'volumes.kubernetes.io/controller-managed-attach-detach': 'true',
      },
    },
    spec: { podCIDR: podCidr, podCIDRs: [podCidr] },
    status: {
      capacity: resources(facts.cpuCores, memory),
      allocatable: resources(facts.cpuCores, memory),
      conditions: conditions(facts.isReady, createdAt),
      addresses: facts.addresses,
      daemonEndpoints: { kubeletEndpoint: { Port: facts.kubeletPort } },
      nodeInfo: {
        machineID: facts.name,
        systemUUID: facts.name,
        bootID: facts.name,
        kernelVersion: '6.12.0',
        osImage: 'Debian GNU/Linux 13 (trixie)',
        containerRuntimeVersion: 'containerd://2.1.4',
        kubeletVersion: KUBELET_VERSION,
        kubeProxyVersion: '',
        operatingSystem: 'linux',
        architecture: 'amd64',
        ...(facts.swapBytes > 0 && { swap: { capacity: facts.swapBytes } }),
      },
    },
  };
}

/** The Node after its kubelet has moved. */
export function withAddress(
  node: KubernetesObject,
  move: { readonly from: string; readonly address: string; readonly port: number },
): KubernetesObject {
  const { status } = node as unknown as { readonly status: NodeStatus };
  return {
    ...node,
    status: {
      ...status,
      addresses: status.addresses.map(({ type, address }) => ({
        type,
        address: address === move.from ? move.address : address,
      })),
      daemonEndpoints: { kubeletEndpoint: { Port: move.port } },
    },
  };
}

interface NodeStatus {
  readonly addresses: readonly { readonly type: string; readonly address: string }[];
}

function resources(cpuCores: number, memory: string) {
  return {
    cpu: String(cpuCores),
    'ephemeral-storage': '264212084Ki',
    'hugepages-1Gi': '0',
    'hugepages-2Mi': '0',
    memory,
    pods: '110',
  };
}

function conditions(isReady: boolean, since: string) {
  const condition = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    lastHeartbeatTime: since,
    lastTransitionTime: since,
    reason,
    message,
  });
  return [
    condition(
      'MemoryPressure',
      'False',
      'KubeletHasSufficientMemory',
      'kubelet has sufficient memory available',
    ),
    condition('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    condition('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    isReady
      ? condition('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status')
      : condition('Ready', 'Unknown', 'NodeStatusUnknown', 'Kubelet stopped posting node status.'),
  ];
}
