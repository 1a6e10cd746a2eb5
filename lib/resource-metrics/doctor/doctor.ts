import { apiServer } from '#lib/doctor/api-server-check.ts';
import type { Check } from '#lib/doctor/check.ts';
import { examine } from '#lib/doctor/doctor.ts';
import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import type { LiveNode } from '#lib/resource-metrics/nodes/node-cache.ts';
import type { DoctorOptions, MetricsServerOptions } from '#lib/resource-metrics/options.ts';
import { createKubeletClient } from '#lib/resource-metrics/scrape/kubelet/kubelet-client.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import { aggregationLayer } from './aggregation-layer.ts';
import { apiService } from './api-service.ts';
import { containerData } from './container-data.ts';
import { DoctorContext } from './doctor-context.ts';
import { kubeletCertificates } from './kubelet-certificates.ts';
import { kubeletConnections } from './kubelet-connections.ts';
import { type KubeletProbe, probeKubelet } from './kubelet-probe.ts';
import { kubeletResponses } from './kubelet-responses.ts';
import { nodeAddresses } from './node-addresses.ts';
import { nodeClocks } from './node-clocks.ts';
import { permissions } from './permissions.ts';
import { podMetrics } from './pod-metrics.ts';

interface DoctorEnvironment {
  readonly access: ClusterAccess;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly userAgent: string;
  readonly signal: AbortSignal;
  /** Receives whole lines. */
  readonly write: (text: string) => void;
}

const MAX_CONCURRENT_PROBES = 32;

/**
 * Checks a cluster with the server's flags and credentials, and prints problems with their remedies.
 *
 * @returns whether no problem was found
 * @throws if a file of a flag cannot be read
 */
export async function runDoctor(
  options: MetricsServerOptions,
  doctor: DoctorOptions,
  environment: DoctorEnvironment,
): Promise<boolean> {
  const { access, clock, logger, userAgent, signal, write } = environment;
  await using client = new ApiClient({ access, clock, userAgent });
  const { kubelet } = options;
  await using kubelets = await createKubeletClient(kubelet, { access, clock, logger });
  const probeOptions = {
    client: kubelets,
    clock,
    rules: kubelet,
    policy: kubelet.metricsEndpoint,
    isPlainText: kubelet.completelyInsecure,
    dialTimeoutMs: kubelet.dialTimeoutMs,
  };
  const context = new DoctorContext({
    options,
    doctor,
    access,
    client,
    clock,
    signal,
    serverAccount: doctor.serverAccount,
    probe: (nodes) => probeAll(nodes, (node) => probeKubelet(node, probeOptions, signal)),
  });
  return await examine(ALL_CHECKS, context, { output: doctor.output, write });
}

async function probeAll(
  nodes: readonly LiveNode[],
  probe: (node: LiveNode) => Promise<KubeletProbe>,
): Promise<readonly KubeletProbe[]> {
  const probes: KubeletProbe[] = [];
  const waiting = nodes.entries();
  const work = async () => {
    for (const [index, node] of waiting) probes[index] = await probe(node);
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT_PROBES }, work));
  return probes;
}

/** In order of execution; all others depend on the first. */
const ALL_CHECKS: readonly Check<DoctorContext>[] = [
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
