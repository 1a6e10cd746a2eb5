import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import { refuseUnknownParameters } from '#lib/apiserver/http/query-values.ts';
import { badRequest, methodNotAllowed, notFound } from '#lib/apiserver/http/status-error.ts';
import { printableLines } from '#lib/telemetry/printable.ts';
import type { AutoMinLog } from '../min-replicas/min-replicas-report.ts';
import type { DecisionLog, HpaDecisions } from '../observability/decision-log.ts';
import { decisionLine, hpaText } from './hpa-text.ts';

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
