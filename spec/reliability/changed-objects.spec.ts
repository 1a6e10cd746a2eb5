import { readLease } from '#lib/control/lease.ts';
import { CRON_HPA_KIND } from '#lib/cron-hpa/cron-hpa.ts';
import { readConfigMap } from '#lib/hpa/state/config-map-parts.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { readPlainHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { readObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { appliedFields, appliedStatus, specChangedAt } from '#lib/kubernetes/objects/managed-fields.ts';
import { readWorkload, readWorkloadScale } from '#lib/kubernetes/objects/workload.ts';
import { readIngress, readRouteGroup } from '#lib/metrics-adapter/collectors/skipper-collector.ts';
import { reduceNode } from '#lib/resource-metrics/nodes/node-cache.ts';
import { PodReducer } from '#lib/resource-metrics/nodes/pod-cache.ts';
import {
  readScaledJob,
  readScaledObject,
  readTriggerAuthentication,
} from '#lib/scaled-objects/api/cached-objects.ts';
import { type ManagedHpa, targetNamesOf } from '#lib/scaled-objects/api/informers.ts';
import { pendingJobs, readFoundJob, readFoundPod, surplusJobs } from '#lib/scaled-objects/jobs/job-state.ts';
import { compileScaledJob } from '#lib/scaled-objects/preparation/prepared-scaled-job.ts';
import { compileScaledObject } from '#lib/scaled-objects/preparation/prepared-scaled-object.ts';
import { listEndpoints, listPods } from '#lib/scaled-objects/triggers/cluster-lookups.ts';
import { limitedByDefault } from '#lib/scaled-objects/validation/limit-ranges.ts';
import { expectReadOrRefused } from '#spec/support/mutated-objects.ts';

const METADATA = {
  ...{ name: 'a', namespace: 'n', uid: 'u', resourceVersion: '7', generation: 2 },
  ...{ creationTimestamp: '2026-01-01T00:00:00Z', labels: { 'job-name': 'a' }, annotations: { b: 'c' } },
};
const CONDITIONS = [{ type: 'Complete', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }];
const TRIGGER = {
  ...{ type: 'cron', name: 't', authenticationRef: { name: 'x' } },
  metadata: { timezone: 'UTC', start: '0 6 * * *', end: '0 20 * * *', desiredReplicas: '5' },
};
const TARGET = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
const CONTAINERS = [{ name: 'a', resources: { requests: { cpu: '1' }, limits: { memory: '1Gi' } } }];

/** An API client whose every response is a list of one object. */
function listing(object: unknown): ApiClient {
  const client: Pick<ApiClient, 'getJson'> = {
    getJson: async () => ({ metadata: { resourceVersion: '5' }, items: [object] }),
  };
  return client as ApiClient;
}
const { signal } = new AbortController();

describe('objects of the API server with changed fields are read or rejected:', () => {
  const reads: Readonly<Record<string, readonly [Parameters<typeof expectReadOrRefused>[0], ...unknown[]]>> =
    {
      Nodes: [
        { read: reduceNode },
        {
          metadata: METADATA,
          status: {
            addresses: [{ type: 'Hostname', address: 'a' }],
            daemonEndpoints: { kubeletEndpoint: { Port: 1 } },
          },
        },
      ],
      'metadata of pods': [{ read: (value) => new PodReducer().reduce(value) }, { metadata: METADATA }],
      'workloads by their scale': [
        { read: readWorkloadScale },
        {
          metadata: METADATA,
          spec: {
            replicas: 2,
            selector: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'a', operator: 'Exists' }] },
          },
          status: { replicas: 1 },
        },
      ],
      'workloads by their containers': [
        { read: readWorkload },
        {
          metadata: METADATA,
          spec: { replicas: 2, template: { spec: { containers: CONTAINERS } } },
          status: { readyReplicas: 1 },
        },
      ],
      'HPAs of ScaledObjects': [
        { read: readPlainHpa<ManagedHpa>, use: (hpa) => targetNamesOf(hpa as ManagedHpa) },
        {
          metadata: METADATA,
          spec: { scaleTargetRef: TARGET, maxReplicas: 3 },
          status: { conditions: CONDITIONS },
        },
      ],
      CronHorizontalPodAutoscalers: [
        { read: CRON_HPA_KIND.decoder([], 'v1beta1') },
        {
          metadata: METADATA,
          spec: {
            scaleTargetRef: TARGET,
            jobs: [{ name: 'up', schedule: '0 0 8 * * *', targetSize: 3, timeZone: 'UTC', excludeDates: [] }],
          },
          status: { conditions: [{ name: 'up' }], observedGeneration: 1 },
        },
      ],
      ScaledObjects: [
        { read: (value) => compileScaledObject(readScaledObject(value)) },
        { metadata: METADATA, spec: { scaleTargetRef: TARGET, triggers: [TRIGGER], minReplicaCount: 0 } },
      ],
      ScaledJobs: [
        { read: (value) => compileScaledJob(readScaledJob(value)) },
        { metadata: METADATA, spec: { jobTargetRef: { template: { spec: {} } }, triggers: [TRIGGER] } },
      ],
      TriggerAuthentications: [
        { read: readTriggerAuthentication },
        { metadata: METADATA, spec: { secretTargetRef: [{ parameter: 'a', name: 'b', key: 'c' }] } },
      ],
      Jobs: [
        {
          read: readFoundJob,
          use: (job) => {
            const jobs = [job as ReturnType<typeof readFoundJob>];
            return [surplusJobs(jobs, { successful: 0, failed: 0 }), pendingJobs(jobs, [], ['Ready'])];
          },
        },
        { metadata: METADATA, status: { conditions: CONDITIONS, completionTime: '2026-01-01T00:00:00Z' } },
      ],
      'pods of Jobs': [
        {
          read: readFoundPod,
          use: (pod) => pendingJobs([], [pod as ReturnType<typeof readFoundPod>], ['Ready']),
        },
        { metadata: METADATA, status: { phase: 'Running', conditions: CONDITIONS } },
      ],
      'pods that are counted': [
        { read: (value) => listPods(listing(value))('n', 'a=b', signal) },
        { metadata: METADATA, spec: { nodeName: 'n' } },
      ],
      EndpointSlices: [
        { read: (value) => listEndpoints(listing(value))({ namespace: 'n', service: 's' }, signal) },
        {
          ...{ metadata: METADATA, addressType: 'IPv6', ports: [{ port: 80 }] },
          endpoints: [{ addresses: ['::1'], conditions: { ready: true }, targetRef: { uid: 'u' } }],
        },
      ],
      LimitRanges: [
        { read: (value) => limitedByDefault(listing(value))('n', signal) },
        {
          metadata: METADATA,
          spec: { limits: [{ type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: 1 } }] },
        },
      ],
      ConfigMaps: [{ read: readConfigMap }, { metadata: METADATA, data: { a: 'b' } }],
      Leases: [
        { read: readLease },
        { metadata: METADATA, spec: { holderIdentity: 'a', leaseDurationSeconds: 15 } },
      ],
      Ingresses: [
        { read: (value) => readIngress(value, ['b']) },
        { metadata: { ...METADATA, annotations: { b: '{"x":50}' } }, spec: { rules: [{ host: 'a' }] } },
      ],
      RouteGroups: [
        { read: readRouteGroup },
        { metadata: METADATA, spec: { hosts: ['a'], defaultBackends: [{ backendName: 'x', weight: 1 }] } },
      ],
      managedFields: [
        {
          read: readObject,
          use: (object) => {
            const read = object as ReturnType<typeof readObject>;
            return [appliedStatus(read, 'm'), appliedFields(read, 'm'), specChangedAt(read.metadata)];
          },
        },
        {
          metadata: {
            ...METADATA,
            managedFields: [
              {
                ...{ manager: 'm', operation: 'Apply', subresource: 'status', time: '2026-01-01T00:00:00Z' },
                fieldsV1: {
                  'f:status': {
                    'f:conditions': { 'k:{"type":"Complete"}': { 'f:status': {} }, 'v:"a"': {}, 'i:0': {} },
                  },
                },
              },
            ],
          },
          status: { conditions: CONDITIONS },
        },
      ],
    };
  for (const [name, [reader, ...seeds]] of Object.entries(reads))
    it(name, async () => {
      await expectReadOrRefused(reader, seeds);
    });
});
