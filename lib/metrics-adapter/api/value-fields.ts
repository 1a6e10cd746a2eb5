import { field, type MessageField } from '#lib/apiserver/encoding/message-type.ts';
import { QUANTITY, TIME, WHOLE_NUMBER } from '#lib/apiserver/encoding/value-types.ts';
import type { MetricValue } from '#lib/collection/metrics-provider.ts';

/** What values of all groups have; JSON has `null` for a time that nobody knows. */
export const VALUE_FIELDS: Readonly<Record<'timestamp' | 'window' | 'value', MessageField<MetricValue>>> = {
  timestamp: field(TIME, { number: 3, of: ({ takenAtMs = null }) => takenAtMs }),
  window: field(WHOLE_NUMBER, { number: 4, of: ({ windowSeconds }) => windowSeconds }),
  value: field(QUANTITY, { number: 5, of: ({ value }) => value }),
};
