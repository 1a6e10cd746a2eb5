import type { ExtraResources } from '#lib/resource-metrics/batch/extra-resources.ts';
import type { NodeAnswer, PodPoints } from '#lib/resource-metrics/batch/node-answer.ts';
import type { AnswerOrigin } from './answer-origin.ts';
import { IgnoredParts } from './ignored-parts.ts';
import { JsonScanner } from './json-scanner.ts';
import { OtherNodesAnswer } from './other-nodes-answer.ts';
import { SummaryReader } from './summary-reader.ts';

/**
 * Reads a kubelet's answer to `/stats/summary` (k8s.io/kubelet/pkg/apis/stats/v1alpha1 `Summary`).
 *
 * Kubelets write 0 for what they don't know, so a zero counter, working set or time counts as missing. A pod
 * without a name is left out, alone.
 *
 * @param extras what is to be read beside CPU and memory
 * @throws {OtherNodesAnswer} when it says that it is about another node than was asked
 * @throws {ExcessiveAnswer} when it has more parts, or deeper ones, than a summary can
 * @throws when the text is not a JSON object, or when nothing of what it has can be read
 */
export function decodeSummary(
  body: Buffer,
  origin: AnswerOrigin,
  extras: ExtraResources = new Set(),
): NodeAnswer {
  const summary = new SummaryReader(new JsonScanner(body), extras).read();
  if (!summary.isSummary) throw new Error('the answer is no summary: it has neither node nor pods');
  const { nodeName } = summary;
  if (nodeName !== undefined && nodeName !== origin.nodeName) throw new OtherNodesAnswer(nodeName);
  const pods: PodPoints[] = [];
  const ignored = new IgnoredParts();
  for (const pod of summary.pods) {
    if (pod) pods.push(pod);
    else ignored.note('a pod without name or namespace');
  }
  const node = summary.node && { name: origin.nodeName, ...summary.node };
  const [firstIgnored] = ignored.held;
  if (!node && pods.length === 0 && firstIgnored !== undefined) {
    throw new Error(`the answer has no metrics, but ${firstIgnored}`);
  }
  return { ...origin, stampResolution: 'second', node, pods, ignored: ignored.held };
}
