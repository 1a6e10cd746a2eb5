import { runDoctor } from '#lib/autoscaler/doctor.ts';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import type { Finding } from '#lib/doctor/check.ts';
import type { CheckResult } from '#lib/doctor/doctor.ts';
import { loadClusterAccess } from '#lib/kubernetes/access/load-cluster-access.ts';
import { readDefinition } from './definition-file.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordingLogger } from './recording-logger.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from './simulated-api-server.ts';

/** Result of the doctor. */
export interface AutoscalerExamination {
  readonly isSound: boolean;
  readonly checks: readonly CheckResult[];
  /** Of all checks, in their order. */
  readonly findings: readonly Finding[];
  readonly diagnoses: readonly string[];
}

/** Start time of examinations. */
export const EXAMINED_AT = '2026-07-15T08:00:00Z';

const WITHOUT_METRICS = ['--enable-custom-metrics-api=false', '--enable-external-metrics-api=false'];
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';

/** A cluster with our definitions and a leader that has just renewed its lease. */
export async function startExaminedAutoscaler(): Promise<SimulatedApiServer> {
  const crd = readDefinition('cron-horizontal-pod-autoscaler');
  const clock = new ManualClock(Date.parse(EXAMINED_AT));
  const server = await startSimulatedApiServer({ clock, definitions: [crd] });
  await created(server, LEASES, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'autoscaler' },
    spec: {
      holderIdentity: 'pod-1',
      leaseDurationSeconds: 15,
      renewTime: EXAMINED_AT.replace('Z', '.000000Z'),
    },
  });
  return server;
}

/** Creates an object. @throws with the server's message if it is rejected */
export async function created(server: SimulatedApiServer, path: string, body: object): Promise<void> {
  const response = await server.client.post(path, body);
  if (response.status !== 201) throw new Error(`Cannot create at ${path}: ${response.body.message}`);
}

/** Runs the doctor, as the administrator unless the flags name other credentials. */
export async function examineAutoscaler(
  { clock, kubeconfig }: SimulatedApiServer,
  flags: readonly string[] = [],
): Promise<AutoscalerExamination> {
  const command = parseAutoscalerOptions([
    'doctor',
    `--kubeconfig=${kubeconfig}`,
    '--output=json',
    ...(flags.some((flag) => flag.startsWith('--controllers')) ? [] : ['--controllers=cronhpa']),
    ...(flags.some((flag) => flag.startsWith('--enable-')) ? [] : WITHOUT_METRICS),
    ...flags,
  ]);
  if (command.kind !== 'doctor') throw new Error('these flags examine nothing');
  const { options, doctor } = command;
  let text = '';
  const isSound = await runDoctor(options, doctor, {
    access: await loadClusterAccess({
      kubeconfig: options.kubeconfig,
      clock,
      logger: new RecordingLogger(),
    }),
    clock,
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
