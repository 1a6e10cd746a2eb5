import { z } from 'zod';
import { ZMON_AGGREGATORS, type ZmonServer } from '#lib/sources/http-apis/zmon-server.ts';
import {
  duration,
  list,
  type MetricCollector,
  readSettings,
  type SettingOrLabel,
  text,
  wholeNumber,
} from './metric-collector.ts';

const TAG = 'tag-';
const DEFAULT_DURATION_MS = 600_000;
const MAX_DURATION_MS = 7 * 86_400_000;
const AGGREGATOR = /^(?:avg|count|last|max|min|sum|diff)$/; // written out, so that its cost can be checked
/** Each works on the result of the previous; there are seven. */
const MAX_AGGREGATORS = 10;

const settings = z.object({
  'check-id': wholeNumber(1, 2 ** 31).describe('ID of the check.'),
  key: text.optional().describe('Key of the value, if the check returns several values.'),
  duration: duration(1_000, MAX_DURATION_MS)
    .optional()
    .describe('Maximum age of a data point; by default 10m.'),
  aggregators: list(AGGREGATOR, `some of ${ZMON_AGGREGATORS.join(', ')}`)
    .refine((names) => names.length <= MAX_AGGREGATORS, { error: `must be at most ${MAX_AGGREGATORS}` })
    .optional()
    .describe(
      'Comma-separated functions that combine the data points, applied in this order; by default `last`.',
    ),
});

/** The data of a ZMON check, for an External metric; `tag-NAME` settings select entities. */
export function zmonCollector({ server }: { readonly server: ZmonServer }): MetricCollector {
  return {
    name: 'zmon',
    legacyMetrics: ['zmon-check'],
    types: ['External'],
    settings,
    takesAlso: (name) => name.startsWith(TAG),
    queryOf(request) {
      const { values, all } = readSettings(settings, request);
      const tags = [...all].filter(([name]) => name.startsWith(TAG)).map(tagOf);
      return server.query({
        checkId: values['check-id'],
        key: values.key,
        tags: Object.fromEntries(tags),
        durationMs: values.duration ?? DEFAULT_DURATION_MS,
        aggregators: (values.aggregators ?? ['last']).flatMap(
          (given) => ZMON_AGGREGATORS.find((name) => name === given) ?? [],
        ),
      });
    },
  };
}

/** @throws for what KairosDB would refuse with each request */
function tagOf([name, { value, place }]: readonly [string, SettingOrLabel]): readonly [string, string] {
  if (name === TAG) throw new Error(`${place} must have the name of a tag after "${TAG}"`);
  if (value.trim() === '') throw new Error(`${place} must not be empty`);
  return [name.slice(TAG.length), value];
}
