import * as z from 'zod';
import { type Check, type Finding, note, ok } from '#lib/doctor/check.ts';
import { MissingPermission } from '#lib/doctor/cluster-context.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';
import { failed } from '#lib/resource-metrics/doctor/diagnoses.ts';
import { type DoctorContext, isFresh, type RunningPod } from '#lib/resource-metrics/doctor/doctor-context.ts';
import type { KubeletProbe } from '#lib/resource-metrics/doctor/kubelet-probe.ts';
import { formatDuration } from '#lib/time/duration.ts';

const PATH = '/apis/metrics.k8s.io/v1beta1/pods';
const LIST = z.object({
  items: z.array(z.object({ metadata: z.object({ namespace: z.string(), name: z.string() }) })).nullable(),
});

/** Finds running pods without metrics, and the reason for each. */
export const podMetrics: Check<DoctorContext> = {
  name: 'pod-metrics',
  title: 'Pod metrics',

  async run(context) {
    const [pods, probes] = await Promise.all([context.pods(), context.probes()]);
    const { served, findings } = await servedPods(context);
    const byNode = new Map(probes.map((probe) => [probe.node.name, probe]));
    const missing = pods.flatMap((pod) => {
      if (served?.has(keyOf(pod))) return [];
      const probe = byNode.get(pod.nodeName);
      // Without the served list, only pods missing from kubelets' responses are certain to be missing.
      const reason = probe ? explain(pod, probe, context, served !== undefined) : leftOut(pod, context);
      return reason ? [reason] : [];
    });
    const failures = missing.filter(({ status }) => status === 'failed').length;
    const seen = `${pods.length - failures} of ${pods.length} without problems`;
    const summary = failures > 0 ? note('running pods', seen) : ok('running pods', seen);
    return [...findings, summary, ...missing];
  },
};

async function servedPods(
  context: DoctorContext,
): Promise<{ readonly served?: ReadonlySet<string>; readonly findings: readonly Finding[] }> {
  try {
    const { items } = readAs(
      LIST,
      'the list of pod metrics',
      await context.get(PATH, 'list pods.metrics.k8s.io'),
    );
    return { served: new Set((items ?? []).map(({ metadata }) => keyOf(metadata))), findings: [] };
  } catch (error) {
    if (error instanceof MissingPermission) {
      const { permission, message } = error;
      return {
        findings: [
          {
            status: 'unchecked',
            subject: 'pods served by metrics.k8s.io',
            seen: message,
            missingPermission: permission,
          },
        ],
      };
    }
    if (!(error instanceof ApiError)) throw error;
    return { findings: [failed('metrics.k8s.io', error.message, { diagnosis: 'metrics-not-served' })] };
  }
}

function explain(
  pod: RunningPod,
  { attempts, target }: KubeletProbe,
  { clock, options }: DoctorContext,
  isKnownMissing: boolean,
): Finding | undefined {
  const subject = `pod ${keyOf(pod)}`;
  const names = { NODE: pod.nodeName, NAMESPACE: pod.namespace, NAME: pod.name };
  const outcome = attempts.at(-1)?.outcome;
  if (outcome?.kind !== 'responded') {
    const because = 'reason' in target ? target.reason : (outcome?.because ?? 'it was not scraped');
    const seen = `its node "${pod.nodeName}" cannot be scraped: ${because}`;
    return failed(subject, seen, { diagnosis: 'pod-of-failing-node', ...names });
  }
  const reported = outcome.batch.pods.find(
    ({ namespace, name }) => keyOf({ namespace, name }) === keyOf(pod),
  );
  const nowMs = clock.nowMs();
  const isYoung = isFresh(pod, { nowMs, resolutionMs: options.metricResolutionMs });
  if (isYoung && (isKnownMissing || !reported?.containers.length)) {
    const age = formatDuration(Math.round((nowMs - (pod.startedAtMs ?? nowMs)) / 1000) * 1000);
    return note(subject, `started ${age} ago: metrics are available after two scrapes of its node`);
  }
  if (!reported) {
    const seen = `runs on node "${pod.nodeName}", whose kubelet does not report it`;
    return failed(subject, seen, { diagnosis: 'pod-not-reported', ...names });
  }
  if (reported.incompleteBecause !== undefined) {
    return failed(subject, reported.incompleteBecause, { diagnosis: 'container-without-data', ...names });
  }
  if (!isKnownMissing) return undefined;
  const seen = `node "${pod.nodeName}" reports complete data, but metrics.k8s.io does not serve the pod`;
  return failed(subject, seen, { diagnosis: 'pod-not-served', ...names });
}

function leftOut(pod: RunningPod, { options }: DoctorContext): Finding {
  const why =
    options.nodeSelector === ''
      ? 'which the API server does not list'
      : 'which --node-selector does not select, or the API server does not list';
  return note(`pod ${keyOf(pod)}`, `runs on node "${pod.nodeName}", ${why}`);
}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
