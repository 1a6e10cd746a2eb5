import { type FieldSelector, parseFieldSelector } from '#lib/kubernetes/selectors/field-selector.ts';
import {
  type LabelSelector,
  parseLabelSelector,
  SelectorError,
} from '#lib/kubernetes/selectors/label-selector.ts';
import { isTrue } from './query-values.ts';
import { badRequest } from './status-error.ts';

/**
 * Attributes of a request that authorization and dispatching depend on, derived from method, path and query alone
 * (`request.RequestInfo` of Kubernetes).
 */
export type RequestInfo = ResourceRequestInfo | NonResourceRequestInfo;

/** A request for a path that does not have the structure of a resource's. */
interface NonResourceRequestInfo {
  readonly isResourceRequest: false;
  /** Decoded. */
  readonly path: string;
  /** The method in lower case. */
  readonly verb: string;
}

/** A request for `/apis/GROUP/VERSION/…` or `/api/VERSION/…`, whether or not that is served. */
export interface ResourceRequestInfo {
  readonly isResourceRequest: true;
  readonly path: string;
  /** get, list, watch, create, update, patch, delete, deletecollection; empty for an unknown method. */
  readonly verb: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  /** Empty for cluster-scoped resources, and for all namespaces. */
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty for collections, unless a field selector names one object. */
  readonly name: string;
  /** Of a request for several objects; empty for any other. */
  readonly selectors: RequestSelectors;
  /** The path after version and namespace: resource, name, subresource and the rest. */
  readonly parts: readonly string[];
}

/** HTTP/2 lets a client send any token as a method. */
const VERBS: ReadonlyMap<string, string> = new Map([
  ['POST', 'create'],
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
]);
const VERBS_IN_PATH = ['proxy', 'watch'];
const VERBS_WITH_SELECTORS = ['list', 'watch', 'deletecollection'];
const NAMESPACE_SUBRESOURCES = ['status', 'finalize'];

/**
 * @param path decoded
 * @throws {StatusError} 400 for selectors beyond their bounds
 */
export function parseRequestInfo(method: string, path: string, query: URLSearchParams): RequestInfo {
  const segments = splitPath(path);
  const [prefix] = segments;
  const isGrouped = prefix === 'apis';
  if ((!isGrouped && prefix !== 'api') || segments.length < (isGrouped ? 4 : 3)) {
    return { isResourceRequest: false, path, verb: method.toLowerCase() };
  }
  const [apiGroup = '', apiVersion = '', ...rest] = isGrouped
    ? segments.slice(1)
    : ['', ...segments.slice(1)];
  const hasVerbInPath = VERBS_IN_PATH.includes(rest[0] ?? '') && rest.length > 1;
  const { namespace, parts } = splitNamespace(hasVerbInPath ? rest.slice(1) : rest);
  const verb = hasVerbInPath ? (rest[0] ?? '') : (VERBS.get(method) ?? '');
  const [resource = '', name = '', subresource = ''] = parts;
  const sent = name === '' ? readSelectors(query) : NO_SELECTORS;
  const named = name === '' ? collectionVerb(verb, query, sent) : { verb, name };
  const hasSelectors = !hasVerbInPath && VERBS_WITH_SELECTORS.includes(named.verb);
  return {
    isResourceRequest: true,
    path,
    ...named,
    selectors: hasSelectors ? sent : NO_SELECTORS,
    apiGroup,
    apiVersion,
    namespace,
    resource,
    subresource: hasVerbInPath ? '' : subresource,
    parts,
  };
}

/** The segments of a path; leading and trailing slashes are ignored, doubled ones inside make an empty segment. */
export function splitPath(path: string): readonly string[] {
  // Not a regular expression: one for what precedes the end takes quadratic time for a run of slashes elsewhere.
  let start = 0;
  let end = path.length;
  while (path[start] === '/') start++;
  while (end > start && path[end - 1] === '/') end--;
  return start === end ? [] : path.slice(start, end).split('/');
}

function splitNamespace(segments: readonly string[]): { namespace: string; parts: readonly string[] } {
  const [first, namespace = '', next] = segments;
  if (first !== 'namespaces') return { namespace: '', parts: segments };
  const isNamespaceItself = next === undefined || NAMESPACE_SUBRESOURCES.includes(next);
  return { namespace, parts: isNamespaceItself ? segments : segments.slice(2) };
}

/** A collection is listed or watched, never got; deleting it has a verb of its own. */
function collectionVerb(
  verb: string,
  query: URLSearchParams,
  selectors: RequestSelectors,
): { verb: string; name: string } {
  if (verb === 'delete') return { verb: 'deletecollection', name: '' };
  if (verb !== 'get') return { verb, name: '' };
  return { verb: isTrue(query.get('watch')) ? 'watch' : 'list', name: nameSelected(selectors) };
}

/** The one name that a field selector admits, if it is valid in a path. */
function nameSelected({ field: { parsed } }: RequestSelectors): string {
  if (parsed instanceof SelectorError) return ''; // refused when the list's options are parsed
  const name = parsed.exactValue('metadata.name') ?? '';
  return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name;
}

/** A selector as it was sent, and parsed; parsed once for all readers. */
export interface SentSelector<Selector> {
  readonly text: string;
  /** The error, where it cannot be parsed: a caller who may not list does not get it. */
  readonly parsed: Selector | SelectorError;
}

/** Selectors of a request for several objects. */
export interface RequestSelectors {
  readonly label: SentSelector<LabelSelector>;
  readonly field: SentSelector<FieldSelector>;
}

const MAX_SELECTOR_BYTES = 16 * 1024;

const MAX_REQUIREMENTS = 500;

export const NO_SELECTORS: RequestSelectors = {
  label: read('labelSelector', '', parseLabelSelector),
  field: read('fieldSelector', '', parseFieldSelector),
};

/** @throws {StatusError} 400 for a selector beyond the bounds */
export function readSelectors(query: URLSearchParams): RequestSelectors {
  const [label, field] = [query.get('labelSelector'), query.get('fieldSelector')];
  return {
    label: label ? read('labelSelector', label, parseLabelSelector) : NO_SELECTORS.label,
    field: field ? read('fieldSelector', field, parseFieldSelector) : NO_SELECTORS.field,
  };
}

function read<Selector extends { readonly requirements: readonly unknown[] }>(
  name: string,
  text: string,
  parse: (text: string) => Selector,
): SentSelector<Selector> {
  if (Buffer.byteLength(text) > MAX_SELECTOR_BYTES) {
    throw badRequest(`invalid ${name}: must have at most ${MAX_SELECTOR_BYTES} bytes`);
  }
  const parsed = understood(() => parse(text));
  if (!(parsed instanceof SelectorError) && parsed.requirements.length > MAX_REQUIREMENTS) {
    throw badRequest(`invalid ${name}: must have at most ${MAX_REQUIREMENTS} requirements`);
  }
  return { text, parsed };
}

function understood<Selector>(parse: () => Selector): Selector | SelectorError {
  try {
    return parse();
  } catch (error) {
    if (error instanceof SelectorError) return error;
    throw error;
  }
}
