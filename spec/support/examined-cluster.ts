import type { Finding } from '#lib/doctor/check.ts';
import type { CheckResult } from '#lib/doctor/doctor.ts';
import { loadClusterAccess } from '#lib/kubernetes/access/load-cluster-access.ts';
import { runDoctor } from '#lib/resource-metrics/doctor/doctor.ts';
import { parseOptions } from '#lib/resource-metrics/options.ts';
import { METRICS_SERVER_USER } from '#simulator/access/default-grants.ts';
import type { ScenarioInput } from '#simulator/scenario.ts';
import { eventually } from './eventually.ts';
import { type RunningServer, runServer } from './running-server.ts';
import { twoCycles } from './two-cycles.ts';

/** Result of the doctor. */
export interface Examination {
  readonly isSound: boolean;
  readonly checks: readonly CheckResult[];
  /** Of all checks, in their order. */
  readonly findings: readonly Finding[];
  readonly diagnoses: readonly string[];
}

/** A cluster whose metrics server has scraped twice and in which the doctor has all permissions. */
export async function startExaminedCluster(scenario: ScenarioInput = {}): Promise<RunningServer> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await runServer({ nodes: 2, podsPerNode: 3, ...scenario }));
  const { cluster } = server;
  cluster.rbac.grant({
    name: 'doctor',
    role: 'doctor',
    users: [METRICS_SERVER_USER],
    rules: [
      { verbs: ['get'], apiGroups: ['apiregistration.k8s.io'], resources: ['apiservices'] },
      { verbs: ['list'], apiGroups: ['metrics.k8s.io'], resources: ['pods'] },
    ],
  });
  const scraped = [...cluster.nodes()].filter(({ plan }) => plan.addresses.length > 0);
  await twoCycles(server, scraped.length);
  const { port } = new URL(server.origin);
  cluster.registerMetricsServer({ host: '127.0.0.1', port: Number(port) });
  await untilAvailable(server, 'True');
  stack.move();
  return server;
}

/** Waits until the APIService of the metrics server has this Available status. */
export async function untilAvailable({ cluster }: RunningServer, status: 'True' | 'False'): Promise<void> {
  await eventually(() => {
    const object = cluster.store.get(
      'apiservices.apiregistration.k8s.io',
      undefined,
      'v1beta1.metrics.k8s.io',
    );
    const { conditions = [] } = (object?.status ?? {}) as { conditions?: readonly { status: string }[] };
    return conditions.some((condition) => condition.status === status);
  });
}

/** Runs the doctor with the flags and credentials of the cluster's server, and more flags. */
export async function examine(
  { clock, cluster, logger }: RunningServer,
  flags: readonly string[] = [],
): Promise<Examination> {
  const { metricsServerKubeconfig, kubeletCa, directory } = cluster.files;
  const command = parseOptions([
    'doctor',
    `--kubeconfig=${metricsServerKubeconfig}`,
    `--kubelet-certificate-authority=${kubeletCa}`,
    `--kubelet-port=${cluster.kubeletPort}`,
    `--cert-dir=${directory}`,
    '--output=json',
    ...flags,
  ]);
  if (command.kind !== 'doctor') throw new Error('these flags examine nothing');
  const { options, doctor } = command;
  let text = '';
  const isSound = await runDoctor(options, doctor, {
    access: await loadClusterAccess({ kubeconfig: options.kubeconfig, clock, logger }),
    clock,
    logger,
    userAgent: 'doctor',
    signal: new AbortController().signal,
    write: (piece) => {
      text += piece;
    },
  });
  const { checks } = JSON.parse(text) as { checks: readonly CheckResult[] };
  const findings = checks.flatMap((check) => check.findings);
  const diagnoses = findings.flatMap((finding) => (finding.status === 'failed' ? [finding.diagnosis] : []));
  return { isSound, checks, findings, diagnoses };
}
