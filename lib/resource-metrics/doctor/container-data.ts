import { type Check, type Finding, findingsOr, note, ok } from '#lib/doctor/check.ts';
import { failed } from '#lib/resource-metrics/doctor/diagnoses.ts';
import { type DoctorContext, isFresh } from '#lib/resource-metrics/doctor/doctor-context.ts';
import type { KubeletProbe } from '#lib/resource-metrics/doctor/kubelet-probe.ts';

/** Finds containers without complete data. */
export const containerData: Check<DoctorContext> = {
  name: 'container-data',
  title: 'Container data',

  async run(context) {
    const [pods, probes] = await Promise.all([context.pods(), context.probes()]);
    const age = { nowMs: context.clock.nowMs(), resolutionMs: context.options.metricResolutionMs };
    const young = new Set(pods.filter((pod) => isFresh(pod, age)).map(keyOf));
    return findingsOr(
      'nodes',
      probes.flatMap((probe) => describe(probe, young)),
    );
  },
};

function describe({ node, attempts }: KubeletProbe, young: ReadonlySet<string>): readonly Finding[] {
  const outcome = attempts.at(-1)?.outcome;
  if (outcome?.kind !== 'responded') return [];
  const { pods } = outcome.batch;
  const lacking = pods.filter(({ incompleteBecause }) => incompleteBecause !== undefined);
  if (lacking.length === 0) return [ok(`node "${node.name}"`, `${pods.length} pods, all with data`)];
  return lacking.map((pod) => {
    const subject = `pod ${keyOf(pod)}`;
    const seen = `on node "${node.name}": ${pod.incompleteBecause}`;
    return young.has(keyOf(pod))
      ? note(subject, `${seen}; the pod has just started`)
      : failed(subject, seen, { diagnosis: 'container-without-data', NODE: node.name });
  });
}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
