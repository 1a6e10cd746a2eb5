import type { DebugSource } from './debug-source.ts';
import { explainScrape } from './explain-node.ts';
import type { PodFacts } from './pod-lookup.ts';
import type { Reason } from './reason.ts';

/** Why a pod is not served that no kubelet reports, from what the API server says of it. */
export function explainLookedUpPod(source: DebugSource, facts: PodFacts): Reason {
  if (facts.kind === 'absent')
    return { code: 'NoSuchPod', message: 'the API server knows no pod of this name' };
  if (facts.kind === 'unknown') {
    return { code: 'LookupFailed', message: `no kubelet that answers tells of it, and ${facts.because}` };
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
    message: `it runs on node "${nodeName}", whose kubelet answers, but does not tell of it`,
  };
}
