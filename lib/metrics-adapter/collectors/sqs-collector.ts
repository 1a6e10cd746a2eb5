import { z } from 'zod';
import type { SqsRegion } from '#lib/sources/http-apis/sqs-queue.ts';
import { type MetricCollector, readSettings, text } from './metric-collector.ts';

const settings = z.object({
  'queue-name': z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,80}(?:\.fifo)?$/, { error: 'must be the name of a queue' })
    .describe('Name of the queue.'),
  region: text.describe('Region of the queue, which must be in `--aws-region`.'),
});

/** The number of waiting messages in a queue of Amazon SQS, for an External metric. */
export function sqsCollector({
  regions,
}: {
  readonly regions: ReadonlyMap<string, SqsRegion>;
}): MetricCollector {
  return {
    name: 'sqs-queue-length',
    legacyMetrics: ['sqs-queue-length'],
    types: ['External'],
    settings,
    queryOf(request) {
      const { values, place } = readSettings(settings, request);
      const region = regions.get(values.region);
      if (region) return region.queueLength({ name: values['queue-name'] });
      const configured = [...regions.keys()].join(', ') || 'none';
      throw new Error(
        `${place('region')} must be one of --aws-region (${configured}), not ${JSON.stringify(values.region)}`,
      );
    },
  };
}
