import { livePodOf } from '#lib/resource-metrics/api/pod-metrics-resource.ts';
import type { PodUsage, Snapshot } from '#lib/resource-metrics/sink/snapshot.ts';
import { type DebugSource, explainHistory, explainScrape } from './describe-node.ts';
import type { PodFacts } from './pod-lookup.ts';
import type { PodReport } from './pod-report.ts';
import type { Reason } from './reason.ts';

/** The usage of a pod that is served of a snapshot now. */
export function servedPodUsage(
  source: DebugSource,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { pods }: Snapshot = source.sink.snapshot,
): PodUsage | undefined {
  const usage = pods.get(namespace)?.get(name);
  return usage && livePodOf(source, usage) && usage;
}

/** Why a pod is not served that a kubelet has reported. */
export function explainReportedPod(
  source: DebugSource,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { nodeName, held, pod }: PodReport,
): Reason {
  const live = source.pods.get(namespace, name);
  const obstacle = explainScrape(source, nodeName);
  if (!live) return explainNotLive(source, nodeName);
  if (pod.uid !== undefined && pod.uid !== live.uid) {
    return {
      code: 'ReplacedPod',
      message: `node "${nodeName}" still reports the pod of UID ${pod.uid} that had this name before; the one that lives has UID ${live.uid}`,
    };
  }
  if (pod.incompleteBecause !== undefined) {
    return {
      code: 'IncompletePod',
      message: `according to node "${nodeName}" ${pod.incompleteBecause}, and the pod's sum without it would be too small`,
    };
  }
  if (obstacle) return obstacle;
  if (pod.containerCount === 0) {
    return { code: 'NoContainers', message: `node "${nodeName}" reports no container of it` };
  }
  for (const history of pod.containers) {
    const container = history.name;
    if (!history.usage)
      return explainHistory(history, { of: `container "${container}"`, record: held.record });
  }
  return {
    code: 'NotPublishedYet',
    message: `what node "${nodeName}" reported is complete and is about to be served`,
  };
}

/** Why a pod is not served of which nothing is known but that it lives, or not even that. */
export function explainUnreportedPod(
  source: DebugSource,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  failingNodes: number,
): Reason {
  if (!source.pods.get(namespace, name) && !source.pods.isSynced) return NOT_LISTED;
  const nodes = failingNodes === 1 ? 'the node' : `one of the ${failingNodes} nodes`;
  const suspects = failingNodes === 0 ? '' : `, and it may run on ${nodes} that cannot be scraped`;
  return {
    code: 'NotReported',
    message: `no kubelet that responds reports it${suspects}; ask for it by namespace and name to learn which node it is on`,
  };
}

const NOT_LISTED: Reason = { code: 'PodsNotListed', message: 'the running pods have not been listed yet' };

function explainNotLive({ pods }: DebugSource, nodeName: string): Reason {
  if (!pods.isSynced) return NOT_LISTED;
  return {
    code: 'NotRunning',
    message: `node "${nodeName}" reports it, but the API server lists no running pod of this name`,
  };
}

/** Why a pod is not served that no kubelet reports, from what the API server says of it. */
export function explainLookedUpPod(source: DebugSource, facts: PodFacts): Reason {
  if (facts.kind === 'absent')
    return { code: 'NoSuchPod', message: 'the API server knows no pod of this name' };
  if (facts.kind === 'unknown') {
    return { code: 'LookupFailed', message: `no kubelet that responds reports it, and ${facts.because}` };
  }
  const { nodeName, phase, startedAtMs } = facts;
  if (nodeName === undefined) return { code: 'NotScheduled', message: 'it has not been given a node yet' };
  if (phase !== 'Running') {
    return { code: 'NotRunning', message: `it is on node "${nodeName}" and its phase is ${phase}` };
  }
  if (!source.nodes.get(nodeName)) {
    return {
      code: 'UnknownNode',
      message: `it runs on node "${nodeName}", which the API server does not list, or --node-selector leaves out`,
    };
  }
  const obstacle = explainScrape(source, nodeName);
  if (obstacle) return obstacle;
  const scrapedAtMs = source.scrapes.get(nodeName)?.startedAtMs ?? 0;
  if (startedAtMs !== undefined && startedAtMs >= scrapedAtMs - 1000) {
    const [started, scraped] = [startedAtMs, scrapedAtMs].map((ms) => new Date(ms).toISOString());
    return {
      code: 'NotReportedYet',
      message: `it started at ${started}, and node "${nodeName}" was last scraped at ${scraped}`,
    };
  }
  return {
    code: 'NotReported',
    message: `it runs on node "${nodeName}", whose kubelet responds, but does not report it`,
  };
}
