import { type Parameter, pathParameter, queryParameter } from '#lib/apiserver/encoding/schema.ts';

/** The parameter by which people ask for indentation. */
export const PRETTY = queryParameter(
  'pretty',
  'string',
  'Whether JSON is indented. By default only for curl, wget and browsers.',
);

/** The namespace in a path. */
export const NAMESPACE = pathParameter('namespace', 'The namespace that the objects are in.');

/** The name in a path. */
export function objectName(kind: string): Parameter {
  return pathParameter('name', `The name of the ${kind}.`);
}

/** What a list can be asked with, besides {@link PRETTY}. */
export const LIST_PARAMETERS: readonly Parameter[] = [
  queryParameter(
    'allowWatchBookmarks',
    'boolean',
    'Whether a watch may also send its version without a change (BOOKMARK).',
  ),
  queryParameter(
    'continue',
    'string',
    'Where the page before this one ended: the continue field of its metadata.',
  ),
  queryParameter(
    'fieldSelector',
    'string',
    'Which objects are listed, by metadata.name and metadata.namespace.',
  ),
  queryParameter('labelSelector', 'string', 'Which objects are listed, by their labels.'),
  queryParameter(
    'limit',
    'integer',
    'How many objects a page has at most. By default everything is on one page.',
  ),
  queryParameter(
    'resourceVersion',
    'string',
    'How new the response must be. What is served here is always the latest.',
  ),
  queryParameter('resourceVersionMatch', 'string', 'How resourceVersion is meant: Exact or NotOlderThan.'),
  queryParameter(
    'sendInitialEvents',
    'boolean',
    'Whether a watch begins with the objects that there are, then a bookmark.',
  ),
  queryParameter('timeoutSeconds', 'integer', 'After how long a watch ends.'),
  queryParameter('watch', 'boolean', 'Whether to go on with the changes, as a stream of events.'),
];
