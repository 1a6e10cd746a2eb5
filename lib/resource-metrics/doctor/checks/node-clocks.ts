import { type Check, type Finding, note, ok } from '#lib/doctor/check.ts';
import { failed } from '#lib/resource-metrics/doctor/diagnoses.ts';
import type { DoctorContext } from '#lib/resource-metrics/doctor/doctor-context.ts';
import type { KubeletProbe } from '#lib/resource-metrics/doctor/kubelet-probe.ts';
import type { MetricsBatch } from '#lib/resource-metrics/metrics-batch.ts';
import { formatDuration } from '#lib/time/duration.ts';

/** A sample cannot be from later than now; so much is forgiven. */
const MOST_AHEAD_MS = 5_000;
/** Kubelets sample every 10 to 20 s, and busy ones later. */
const MOST_BEHIND_MS = 60_000;

/** Whether the freshest sample of each node is of about now, by our clock. */
export const nodeClocks: Check<DoctorContext> = {
  name: 'node-clocks',
  title: 'Node clocks',

  async run(context) {
    return (await context.probes()).flatMap(describe);
  },
};

function describe({ node, attempts }: KubeletProbe): readonly Finding[] {
  const last = attempts.at(-1);
  if (last?.outcome.kind !== 'responded') return [];
  const subject = `node "${node.name}"`;
  const freshestMs = freshestStamp(last.outcome.batch);
  if (freshestMs === undefined) return [];
  if (freshestMs === last.endedAtMs) {
    return [note(subject, 'its samples bear no time: they are taken for as old as the response')];
  }
  const aheadMs = Math.round((freshestMs - last.endedAtMs) / 1000) * 1000;
  if (aheadMs <= MOST_AHEAD_MS && aheadMs >= -MOST_BEHIND_MS) {
    return [ok(subject, `its freshest sample is of ${new Date(freshestMs).toISOString()}`)];
  }
  const seen = `its freshest sample is ${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} our clock`;
  return [failed(subject, seen, { diagnosis: 'node-clock-skewed', NODE: node.name })];
}

function freshestStamp({ node, pods }: MetricsBatch): number | undefined {
  const stamps = pods.flatMap(({ containers }) => containers.map(({ takenAtMs }) => takenAtMs));
  if (node) stamps.push(node.takenAtMs);
  return stamps.length === 0 ? undefined : stamps.reduce((latest, stamp) => Math.max(latest, stamp));
}
