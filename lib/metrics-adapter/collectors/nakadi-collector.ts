import { z } from 'zod';
import { isPathSegment } from '#lib/kubernetes/path-segment.ts';
import type { NakadiServer, NakadiSubscriptions } from '#lib/sources/http-apis/nakadi-server.ts';
import { nameOfMetric } from '../collected-metrics.ts';
import {
  type CollectorRequest,
  choice,
  list,
  type MetricCollector,
  type ReadSettings,
  readSettings,
  text,
} from './metric-collector.ts';

const settings = z.object({
  'metric-type': choice(['consumer-lag-seconds', 'unconsumed-events']).describe(
    '`consumer-lag-seconds` for the maximum lag of all partitions, or `unconsumed-events` for the sum of the events of all partitions.',
  ),
  'subscription-id': text
    .refine(isPathSegment, { error: 'must not be "." or ".."' })
    .optional()
    .describe('ID of the subscription. Either this or all of the following three settings are required.'),
  'owning-application': text.optional().describe('Application that owns the subscriptions.'),
  'event-types': list(/^[\w.-]{1,255}$/, 'names of event types separated by commas')
    .optional()
    .describe('Event types of the subscriptions, separated by commas.'),
  'consumer-group': text.optional().describe('Consumer group of the subscriptions.'),
});

/** Lag of consumers of Nakadi events, for an External metric. */
export function nakadiCollector({ server }: { readonly server: NakadiServer }): MetricCollector {
  return {
    name: 'nakadi',
    legacyMetrics: [],
    types: ['External'],
    settings,
    queryOf(request) {
      const read = readSettings(settings, request);
      return server.query(read.values['metric-type'], subscriptionsIn(read, request));
    },
  };
}

function subscriptionsIn(
  { values, place }: ReadSettings<typeof settings>,
  { metric }: CollectorRequest,
): NakadiSubscriptions {
  const {
    'subscription-id': id,
    'owning-application': owningApplication,
    'event-types': eventTypes,
    'consumer-group': consumerGroup,
  } = values;
  if (id !== undefined) {
    if (owningApplication !== undefined || eventTypes || consumerGroup !== undefined)
      throw new Error(
        `${place('subscription-id')} cannot be combined with "owning-application", "event-types" or "consumer-group"`,
      );
    return { id };
  }
  if (owningApplication !== undefined && eventTypes && consumerGroup !== undefined)
    return { owningApplication, eventTypes, consumerGroup };
  throw new Error(
    `Metric ${nameOfMetric(metric)} requires the setting "subscription-id", or all of "owning-application", "event-types" and "consumer-group"`,
  );
}
