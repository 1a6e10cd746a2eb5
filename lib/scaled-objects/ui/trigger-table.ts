import { getOwn } from '#lib/kubernetes/get-own.ts';
import { describeError } from '#lib/telemetry/logger.ts';
import { type Html, type HtmlPart, html } from '#lib/ui/html.ts';
import { ago, ahead } from '#lib/ui/relative-time.ts';
import { type Column, type Row, type RowState, stateWord, table } from '#lib/ui/table.ts';
import type { ToldObject } from '../observability/object-report.ts';
import type { PlannedTrigger } from '../preparation/prepared-scaled-object.ts';
import type { MetricState, ObservedMetric } from '../values/metric-state.ts';

const COLUMNS: readonly Column[] = [
  { title: 'State' },
  { title: 'Trigger', className: 'name' },
  { title: 'Value', className: 'number' },
  { title: 'Threshold', className: 'number' },
  { title: 'Since', className: 'number' },
  { title: 'Failures', className: 'number' },
  { title: 'Next poll', className: 'number' },
  { title: 'Asked', className: 'text' },
];

/** The triggers of an object, with what each told and how it fares. */
export function triggerTable(told: ToldObject | undefined, nowMs: number): Html {
  const rows = told?.plan?.triggers.flatMap((trigger) => triggerRows(trigger, told, nowMs)) ?? [];
  return table(COLUMNS, rows, 'None is asked by this replica now.');
}

function triggerRows(trigger: PlannedTrigger, told: ToldObject, nowMs: number): readonly Row[] {
  const { type, name, resource, error } = trigger;
  const title = name === undefined ? type : html`${type} <span class="faint">${name}</span>`;
  const rest = COLUMNS.slice(2).map(() => '–');
  if (error)
    return [
      {
        state: 'failing',
        note: describeError(error),
        cells: [stateWord('failing', 'not asked'), title, ...rest],
      },
    ];
  if (resource) {
    const note = `the HPA controller reads ${resource.resource} itself`;
    return [{ cells: [stateWord('served', 'by the HPA'), title, ...rest], note }];
  }
  return told.observed
    .filter((one) => one.trigger === trigger)
    .map((one) => metricRow(one, { told, title, nowMs }));
}

interface MetricRowOptions {
  readonly told: ToldObject;
  readonly title: HtmlPart;
  readonly nowMs: number;
}

function metricRow({ metric, state }: ObservedMetric, { told, title, nowMs }: MetricRowOptions): Row {
  const { key, collection, object, activity } = told;
  const { metricName, target, targetType, query } = metric;
  const failure = collection.failure(key, metricName);
  const health = object.status && 'health' in object.status ? object.status.health : undefined;
  const counted = getOwn(health, metricName)?.numberOfFailures;
  const isTold = state.kind === 'value';
  const sinceMs = failure?.sinceMs ?? (isTold ? activity?.of(metricName)?.sinceMs : undefined);
  const { row, word } = STATES[state.kind];
  const error =
    state.kind === 'failing' || state.kind === 'fallback' ? describeError(state.error) : undefined;
  return {
    state: row,
    note: [error, metricName].filter((text) => text !== undefined).map((text) => html`<p>${text}</p>`),
    cells: [
      stateWord(row, isTold ? (state.isActive ? 'active' : 'not active') : word),
      title,
      isTold ? state.values.join(', ') : '–',
      `${target} ${targetType === 'AverageValue' ? 'a replica' : 'in all'}`,
      sinceMs === undefined ? '–' : ago(sinceMs, nowMs),
      `${failure?.count ?? 0}${counted === undefined ? '' : ` (${counted} counted)`}`,
      ahead(nowMs + (collection.nextInMs(key, metricName) ?? 0), nowMs),
      query.description,
    ],
  };
}

const STATES: Readonly<Record<MetricState['kind'], { readonly row: RowState; readonly word: string }>> = {
  value: { row: 'served', word: 'told' },
  pending: { row: 'waiting', word: 'not asked yet' },
  failing: { row: 'failing', word: 'failing' },
  fallback: { row: 'waiting', word: 'falling back' },
};
