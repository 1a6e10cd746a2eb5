import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import { refuseUnknownParameters } from '#lib/apiserver/http/query-values.ts';
import { badRequest, methodNotAllowed, notFound } from '#lib/apiserver/http/status-error.ts';
import { printableLines } from '#lib/telemetry/printable.ts';
import { formatTimestamp } from '#lib/time/timestamp.ts';
import type { Explanation } from '../decision/decision.ts';

import { explainDecision } from '../explain/explain-decision.ts';
import type { AutoMinLog } from '../min-replicas/min-replicas-report.ts';
import { type DecisionLog, type HpaDecisions, type LoggedDecision, shortened } from './decision-log.ts';

/**
 * `/debug/hpa?namespace=&name=`: why an HPA has as many replicas as it has, as the leader decided. JSON, or text with
 * `format=text` or for who accepts no JSON; without a name, all HPAs in short.
 */
export function debugHpa(decisions: DecisionLog, autoMin: Pick<AutoMinLog, 'find'>): Endpoint {
  return (context) => {
    if (context.method !== 'GET' && context.method !== 'HEAD') throw methodNotAllowed();
    const { query } = context.state;
    refuseUnknownParameters(query, ['namespace', 'name', 'format']);
    const format = query.get('format') ?? (context.accepts('json', 'text') === 'text' ? 'text' : 'json');
    if (format !== 'json' && format !== 'text') throw badRequest('format must be json or text');
    const namespace = query.get('namespace') ?? '';
    const name = query.get('name') ?? '';
    const found = namespace !== '' && name !== '' ? decisions.find(`${namespace}/${name}`) : undefined;
    if (name !== '' && !found) throw notFound(HPAS, `${namespace}/${name}`);
    const minimum = found && autoMin.find(`${found.namespace}/${found.name}`);
    const all = [...decisions.values()].filter((one) => namespace === '' || one.namespace === namespace);
    const text =
      format === 'json'
        ? JSON.stringify(
            found ? { ...found, autoMinReplicas: minimum } : { hpas: all.map(inShort) },
            undefined,
            2,
          )
        : found
          ? hpaText(found, minimum)
          : all.map(lineOf).join('\n');
    context.type = format === 'json' ? 'application/json' : 'text/plain; charset=utf-8';
    context.body = Buffer.from(`${printableLines(text)}\n`);
  };
}

const HPAS = { group: 'autoscaling', resource: 'horizontalpodautoscalers' };

function inShort({ namespace, name, decisions }: HpaDecisions): object {
  return { namespace, name, latest: decisions.at(-1) };
}

function lineOf({ namespace, name, decisions }: HpaDecisions): string {
  const latest = decisions.at(-1);
  return `${namespace}/${name}  ${latest ? decisionLine(latest) : ''}`;
}

/** Selectors, and what servers say, may be as long as an object. */
const LONGEST_LINE = 1000;
/** An HPA may have as many metrics as fit into an object. */
const MOST_LINES = 200;

/**
 * Why an HPA has as many replicas as it has, for people.
 *
 * @param minimum what is said of its minReplicas by the week
 */
export function hpaText(
  { namespace, name, explanation, other, decisions, problem }: HpaDecisions,
  minimum: string | undefined,
): string {
  return [
    `HorizontalPodAutoscaler ${namespace}/${name}`,
    ...(other
      ? [`left alone, for "${other.manager}" acted on it at ${formatTimestamp(other.writtenAtMs)}`]
      : []),
    ...(explanation
      ? [
          `decided at ${formatTimestamp(explanation.atMs)}`,
          ...calculation(explanation, decisions.at(-1)?.agrees !== undefined),
        ]
      : []),
    ...(problem === undefined ? [] : [`not heeded: ${problem}`]),
    ...(minimum === undefined ? [] : [`minReplicas by the week: ${minimum}`]),
    '',
    `the last ${decisions.length} decisions, the latest first:`,
    ...decisions.toReversed().map(decisionLine),
  ].join('\n');
}

function calculation(explanation: Explanation, isHypothetical: boolean): readonly string[] {
  const lines = explainDecision(explanation, { isHypothetical })
    .split('\n')
    .map((line) => shortened(line, LONGEST_LINE));
  if (lines.length <= MOST_LINES) return lines;
  const half = MOST_LINES / 2; // what came of it is at the end
  return [
    ...lines.slice(0, half),
    `… ${lines.length - MOST_LINES} more lines; as JSON there are all …`,
    ...lines.slice(-half),
  ];
}

/** One decision on a line. */
export function decisionLine(decision: LoggedDecision): string {
  const { atMs, step, currentReplicas, proposedReplicas, desiredReplicas, isScaled, agrees, error } =
    decision;
  const asked = proposedReplicas === undefined ? '' : `, metrics ask for ${proposedReplicas}`;
  const done =
    agrees === undefined
      ? isScaled
        ? 'scaled'
        : 'stayed'
      : `dry run, ${agrees ? 'as' : 'other than'} the status says`;
  const replicas = `${currentReplicas ?? '?'} -> ${desiredReplicas ?? '?'}`;
  return `${formatTimestamp(atMs)}  ${replicas}  ${done}  ${step}${asked}${error === undefined ? '' : `: ${error}`}`;
}
