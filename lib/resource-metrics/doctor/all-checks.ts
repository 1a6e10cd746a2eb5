import type { Check } from '#lib/doctor/check.ts';
import { apiServer } from '#lib/doctor/checks/api-server.ts';
import { aggregationLayer } from './checks/aggregation-layer.ts';
import { apiService } from './checks/api-service.ts';
import { containerData } from './checks/container-data.ts';
import { kubeletCertificates } from './checks/kubelet-certificates.ts';
import { kubeletConnections } from './checks/kubelet-connections.ts';
import { kubeletResponses } from './checks/kubelet-responses.ts';
import { nodeAddresses } from './checks/node-addresses.ts';
import { nodeClocks } from './checks/node-clocks.ts';
import { permissions } from './checks/permissions.ts';
import { podMetrics } from './checks/pod-metrics.ts';
import type { DoctorContext } from './doctor-context.ts';

/** What the doctor looks at, in this order; without the first nothing else can be looked at. */
export const ALL_CHECKS: readonly Check<DoctorContext>[] = [
  apiServer,
  permissions,
  aggregationLayer,
  apiService,
  nodeAddresses,
  kubeletConnections,
  kubeletCertificates,
  kubeletResponses,
  nodeClocks,
  containerData,
  podMetrics,
];
