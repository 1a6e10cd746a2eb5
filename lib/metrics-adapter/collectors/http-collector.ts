import { z } from 'zod';
import type { HttpClients } from '#lib/sources/http/http-clients.ts';
import { jsonQuery } from '#lib/sources/json/json-query.ts';
import {
  extractOf,
  jsonSettings,
  type MetricCollector,
  readSettings,
  sourceUrl,
} from './metric-collector.ts';

const settings = z.object({
  endpoint: sourceUrl.describe('URL of the JSON document; may contain a user name and password.'),
  ...jsonSettings,
});

/** A number in the JSON of any allowed endpoint, for an External metric. */
export function httpCollector({ clients }: { readonly clients: HttpClients }): MetricCollector {
  return {
    name: 'json-path',
    legacyMetrics: ['http'],
    types: ['External'],
    settings,
    queryOf(request) {
      const read = readSettings(settings, request);
      const { url, credentials } = read.values.endpoint;
      return jsonQuery({ http: clients.find({ credentials }), url, extract: extractOf(read, request) });
    },
  };
}
