import { formatTimestamp, type NewObject } from '../objects/kubernetes-object.ts';

/** `status.phase` of a pod. */
export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

interface PodFacts {
  readonly namespace: string;
  readonly name: string;
  readonly generateName?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly nodeName: string;
  readonly nodeAddress: string;
  readonly podAddress: string;
  readonly phase: PodPhase;
  readonly startedAtMs: number;
  readonly containerNames: readonly string[];
}

/** A Pod that the scheduler has bound and, unless it is pending, a kubelet has started. */
export function podObject(facts: PodFacts): NewObject {
  const startedAt = formatTimestamp(facts.startedAtMs);
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name: facts.name,
      ...(facts.generateName === undefined ? {} : { generateName: facts.generateName }),
      namespace: facts.namespace,
      generation: 1,
      creationTimestamp: startedAt,
      labels: facts.labels,
      managedFields: MANAGED_FIELDS,
    },
    spec: {
      containers: facts.containerNames.map((name) => ({ name, ...CONTAINER })),
      nodeName: facts.nodeName,
      ...POD_SPEC,
    },
    status: {
      observedGeneration: 1,
      phase: facts.phase,
      conditions: conditions(facts.phase, startedAt),
      hostIP: facts.nodeAddress,
      hostIPs: [{ ip: facts.nodeAddress }],
      ...(facts.phase === 'Pending'
        ? {}
        : { podIP: facts.podAddress, podIPs: [{ ip: facts.podAddress }], startTime: startedAt }),
      ...(facts.phase === 'Running'
        ? { containerStatuses: facts.containerNames.map((name) => containerStatus(name, startedAt)) }
        : {}),
      qosClass: 'BestEffort',
    },
  };
}

function containerStatus(name: string, startedAt: string, restartCount = 0) {
  return {
    name,
    state: { running: { startedAt } },
    lastState: {},
    ready: true,
    restartCount,
    image: CONTAINER.image,
    imageID: 'sha256:e9d8ed19d057ed69a2a2174a1e39a79aeb0478bf6e886e257ce8de00fa4fe0ea',
    started: true,
  };
}

/** The Pod after a restart of one of its containers. */
export function withRestartedContainer<T extends NewObject>(pod: T, container: string, atMs: number): T {
  const status = pod.status as { containerStatuses?: readonly ReturnType<typeof containerStatus>[] };
  return {
    ...pod,
    status: {
      ...status,
      containerStatuses: status.containerStatuses?.map((old) =>
        old.name === container
          ? {
              ...containerStatus(container, formatTimestamp(atMs), old.restartCount + 1),
              lastState: {
                terminated: {
                  exitCode: 1,
                  reason: 'Error',
                  startedAt: old.state.running.startedAt,
                  finishedAt: formatTimestamp(atMs),
                },
              },
            }
          : old,
      ),
    },
  };
}

function conditions(phase: PodPhase, since: string) {
  const isReady = phase === 'Running' ? 'True' : 'False';
  return Object.entries({
    PodReadyToStartContainers: isReady,
    Initialized: 'True',
    Ready: isReady,
    ContainersReady: isReady,
    PodScheduled: 'True',
  }).map(([type, status]) => ({
    type,
    observedGeneration: 1,
    status,
    lastProbeTime: null,
    lastTransitionTime: since,
  }));
}

// Shared by all pods: copies for 150,000 pods would be most of the simulator's memory.
const CONTAINER = {
  image: 'registry.k8s.io/pause:3.10',
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
};

const POD_SPEC = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 1,
  dnsPolicy: 'ClusterFirst',
  serviceAccountName: 'default',
  serviceAccount: 'default',
  automountServiceAccountToken: false,
  securityContext: {},
  schedulerName: 'default-scheduler',
  tolerations: ['not-ready', 'unreachable'].map((condition) => ({
    key: `node.kubernetes.io/${condition}`,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  })),
  priority: 0,
  enableServiceLinks: true,
  preemptionPolicy: 'PreemptLowerPriority',
};

// Most of the metadata of a real pod.
const MANAGED_FIELDS = [
  {
    manager: 'kube-controller-manager',
    operation: 'Update',
    apiVersion: 'v1',
    time: '2026-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: {
      'f:metadata': { 'f:generateName': {}, 'f:labels': { '.': {}, 'f:app': {}, 'f:pod-template-hash': {} } },
      'f:spec': {
        'f:automountServiceAccountToken': {},
        'f:containers': {},
        'f:dnsPolicy': {},
        'f:enableServiceLinks': {},
        'f:restartPolicy': {},
        'f:schedulerName': {},
        'f:securityContext': {},
        'f:terminationGracePeriodSeconds': {},
      },
    },
  },
  {
    manager: 'kubelet',
    operation: 'Update',
    apiVersion: 'v1',
    time: '2026-01-01T00:00:00Z',
    fieldsType: 'FieldsV1',
    fieldsV1: {
      'f:status': {
        'f:conditions': {},
        'f:containerStatuses': {},
        'f:hostIP': {},
        'f:hostIPs': {},
        'f:observedGeneration': {},
        'f:phase': {},
        'f:podIP': {},
        'f:podIPs': {},
        'f:startTime': {},
      },
    },
    subresource: 'status',
  },
];
