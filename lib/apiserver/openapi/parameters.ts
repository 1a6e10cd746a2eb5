import type { JsonObject } from '#lib/apiserver/encoding/json-value.ts';

/** A parameter of an operation, as OpenAPI 3 has it. */
export type Parameter = JsonObject & { readonly name: string };

/** The parameter by which people ask for indentation. */
export const PRETTY = query(
  'pretty',
  'string',
  'Whether JSON is indented. By default only for curl, wget and browsers.',
);

/** The namespace in a path. */
export const NAMESPACE = path('namespace', 'The namespace that the objects are in.');

/** The name in a path. */
export function objectName(kind: string): Parameter {
  return path('name', `The name of the ${kind}.`);
}

/** What a list can be asked with, besides {@link PRETTY}. */
export const LIST_PARAMETERS: readonly Parameter[] = [
  query(
    'allowWatchBookmarks',
    'boolean',
    'Whether a watch may also send its version without a change (BOOKMARK).',
  ),
  query('continue', 'string', 'Where the page before this one ended: the continue field of its metadata.'),
  query('fieldSelector', 'string', 'Which objects are listed, by metadata.name and metadata.namespace.'),
  query('labelSelector', 'string', 'Which objects are listed, by their labels.'),
  query('limit', 'integer', 'How many objects a page has at most. By default everything is on one page.'),
  query(
    'resourceVersion',
    'string',
    'How new the response must be. What is served here is always the latest.',
  ),
  query('resourceVersionMatch', 'string', 'How resourceVersion is meant: Exact or NotOlderThan.'),
  query(
    'sendInitialEvents',
    'boolean',
    'Whether a watch begins with the objects that there are, then a bookmark.',
  ),
  query('timeoutSeconds', 'integer', 'After how long a watch ends.'),
  query('watch', 'boolean', 'Whether to go on with the changes, as a stream of events.'),
];

function query(name: string, type: string, description: string): Parameter {
  return { name, in: 'query', description, schema: { type, uniqueItems: true } };
}

function path(name: string, description: string): Parameter {
  return { name, in: 'path', description, required: true, schema: { type: 'string', uniqueItems: true } };
}
