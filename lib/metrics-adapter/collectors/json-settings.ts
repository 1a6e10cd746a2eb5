import { z } from 'zod';
import { type JsonExtract, jsonExtract } from '#lib/sources/json/json-query.ts';
import { nameOfMetric } from '../annotations/collected-metrics.ts';
import type { CollectorRequest } from './metric-collector.ts';
import type { ReadSettings } from './read-settings.ts';
import { choice, text } from './setting-kinds.ts';

/** What says which number of a JSON document counts. */
export const jsonSettings = {
  'json-key': text
    .optional()
    .describe('JSONPath of the number, as in `$.queue.length`; this or `json-eval`.'),
  'json-eval': text
    .optional()
    .describe('Expression over the document, as in `$.busy / $.workers * 100`; this or `json-key`.'),
  aggregator: choice(['avg', 'min', 'max', 'sum'])
    .optional()
    .describe('Makes one number of several: `avg`, `min`, `max` or `sum`.'),
};

const schema = z.object(jsonSettings);

/** @throws an Error that names the setting that cannot be used */
export function extractOf(
  { values, place }: Pick<ReadSettings<typeof schema>, 'values' | 'place'>,
  { metric }: CollectorRequest,
): JsonExtract {
  const { 'json-key': path, 'json-eval': expression, aggregator } = values;
  if (path !== undefined && expression !== undefined)
    throw new Error(`${place('json-eval')} and ${place('json-key')} exclude each other`);
  if (path === undefined && expression === undefined)
    throw new Error(`Setting json-key or json-eval is missing of metric ${nameOfMetric(metric)}`);
  const form = path === undefined ? 'expression' : 'path';
  try {
    return jsonExtract({ form, text: path ?? expression ?? '', aggregator });
  } catch (error) {
    const name = form === 'path' ? 'json-key' : 'json-eval';
    throw new Error(`${place(name)} ${error instanceof Error ? error.message : String(error)}`);
  }
}
