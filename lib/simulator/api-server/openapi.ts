import type { Aggregator } from './aggregator.ts';
import type { ApiRequest } from './api-request.ts';
import { sendJson } from './respond.ts';
import { noSuchPath } from './status.ts';

const INFO = { title: 'Kubernetes', version: 'v1.34.2' };

/**
 * Serves the OpenAPI of the aggregated groups as their servers have it. Of the API server's own there is none:
 * nothing that the simulator is for reads it.
 */
export async function serveOpenApi(
  request: ApiRequest,
  { aggregator }: { readonly aggregator: Aggregator },
): Promise<void> {
  const { path, response, style, signal } = request;
  if (path === '/openapi/v2') {
    const parts = await aggregator.askAll('/openapi/v2', signal);
    const merged = {
      swagger: '2.0',
      info: INFO,
      paths: fieldsOf(parts, 'paths'),
      definitions: fieldsOf(parts, 'definitions'),
    };
    return sendJson(response, 200, merged, style);
  }
  if (path === '/openapi/v3') {
    const parts = await aggregator.askAll('/openapi/v3', signal);
    const all = Object.entries(fieldsOf(parts, 'paths'));
    const paths = Object.fromEntries(all.filter(([name]) => aggregator.backendFor(`/${name}`)));
    return sendJson(response, 200, { paths }, style);
  }
  const backend = aggregator.backendFor(path.replace('/openapi/v3', ''));
  if (!backend) throw noSuchPath();
  return aggregator.proxy(request, backend, { as: 'system:aggregator' });
}

function fieldsOf(parts: readonly unknown[], field: string): Record<string, unknown> {
  return Object.assign({}, ...parts.map((part) => (part as Record<string, unknown>)[field] ?? {}));
}
