import { type Check, type Finding, findingsOr, note, ok } from '#lib/doctor/check.ts';
import { failed } from '#lib/resource-metrics/doctor/diagnoses.ts';
import type { DoctorContext } from '#lib/resource-metrics/doctor/doctor-context.ts';
import type { KubeletProbe } from '#lib/resource-metrics/doctor/kubelet-probe.ts';
import type { MetricsBatch } from '#lib/resource-metrics/metrics-batch.ts';
import { formatDuration } from '#lib/time/duration.ts';

/** Tolerance for samples of the future. */
const MAX_AHEAD_MS = 5_000;
/** Kubelets sample every 10 to 20 s, less often under load. */
const MAX_BEHIND_MS = 60_000;

/** Compares the newest sample of each node with the local clock. */
export const nodeClocks: Check<DoctorContext> = {
  name: 'node-clocks',
  title: 'Node clocks',

  async run(context) {
    const probes = await context.probes();
    return findingsOr('nodes', probes.flatMap(describe));
  },
};

function describe({ node, attempts }: KubeletProbe): readonly Finding[] {
  const last = attempts.at(-1);
  if (last?.outcome.kind !== 'responded') return [];
  const subject = `node "${node.name}"`;
  const freshestMs = freshestStamp(last.outcome.batch);
  if (freshestMs === undefined) return [];
  if (freshestMs === last.endedAtMs) {
    return [note(subject, 'its samples have no timestamps; the time of the response is used')];
  }
  const aheadMs = Math.round((freshestMs - last.endedAtMs) / 1000) * 1000;
  if (aheadMs <= MAX_AHEAD_MS && aheadMs >= -MAX_BEHIND_MS) {
    return [ok(subject, `newest sample at ${new Date(freshestMs).toISOString()}`)];
  }
  const seen = `newest sample is ${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the local clock`;
  return [failed(subject, seen, { diagnosis: 'node-clock-skewed', NODE: node.name })];
}

function freshestStamp({ node, pods }: MetricsBatch): number | undefined {
  const stamps = pods.flatMap(({ containers }) => containers.map(({ takenAtMs }) => takenAtMs));
  if (node) stamps.push(node.takenAtMs);
  return stamps.length === 0 ? undefined : stamps.reduce((latest, stamp) => Math.max(latest, stamp));
}
