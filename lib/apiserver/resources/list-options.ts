import { isTrue, parseCount } from '#lib/apiserver/http/query-values.ts';
import { type RequestSelectors, readSelectors, type SentSelector } from '#lib/apiserver/http/request-info.ts';
import { badRequest, invalidOptions, type StatusCause } from '#lib/apiserver/http/status-error.ts';
import type { FieldSelector } from '#lib/kubernetes/selectors/field-selector.ts';
import { goQuote } from '#lib/kubernetes/selectors/go-quote.ts';
import { type LabelSelector, SelectorError } from '#lib/kubernetes/selectors/label-selector.ts';

/** Query parameters of a list or watch: `metav1.ListOptions`. */
export interface ListOptions {
  readonly labelSelector: LabelSelector;
  readonly fieldSelector: FieldSelector;
  readonly isWatch: boolean;
  readonly allowWatchBookmarks: boolean;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  /** 0 for no limit. */
  readonly timeoutSeconds: number;
  /** 0 for no limit. */
  readonly limit: number;
  readonly continue: string;
  /** `undefined` where the query does not have it, which is not the same as `false`. */
  readonly sendInitialEvents: boolean | undefined;
}

/**
 * @param selectors those of the query, where they are parsed already
 * @throws {StatusError} 400 for what cannot be parsed, numbers before selectors as in Kubernetes
 */
export function parseListOptions(
  query: URLSearchParams,
  selectors: RequestSelectors = readSelectors(query),
): ListOptions {
  const timeoutSeconds = parseCount(query.get('timeoutSeconds'));
  const limit = parseCount(query.get('limit'));
  return {
    labelSelector: understood(selectors.label),
    fieldSelector: understood(selectors.field),
    isWatch: isTrue(query.get('watch')),
    allowWatchBookmarks: isTrue(query.get('allowWatchBookmarks')),
    resourceVersion: query.get('resourceVersion') ?? '',
    resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
    timeoutSeconds,
    limit,
    continue: query.get('continue') ?? '',
    sendInitialEvents: query.has('sendInitialEvents') ? isTrue(query.get('sendInitialEvents')) : undefined,
  };
}

function understood<Selector>({ parsed }: SentSelector<Selector>): Selector {
  if (parsed instanceof SelectorError) throw badRequest(parsed.message);
  return parsed;
}

const EXACT = 'Exact';
const NOT_OLDER_THAN = 'NotOlderThan';

/**
 * Refuses options that are invalid together (`ValidateListOptions` of Kubernetes).
 *
 * @throws {StatusError} 422 with one cause for each error
 */
export function validateListOptions(
  options: ListOptions,
  { isWatchListEnabled }: { readonly isWatchListEnabled: boolean },
): void {
  const causes = options.isWatch ? watchErrors(options, isWatchListEnabled) : listErrors(options);
  if (causes.length > 0) throw invalidOptions(causes);
}

function listErrors(options: ListOptions): StatusCause[] {
  const { resourceVersionMatch: match, resourceVersion, sendInitialEvents } = options;
  const causes: StatusCause[] = [];
  if (match !== '') {
    if (resourceVersion === '') {
      causes.push(forbid(MATCH, `${MATCH} is forbidden unless resourceVersion is provided`));
    }
    if (options.continue !== '') causes.push(MATCH_WITH_CONTINUE);
    if (match !== EXACT && match !== NOT_OLDER_THAN) {
      causes.push(notSupported(match, [EXACT, NOT_OLDER_THAN, '']));
    }
    if (match === EXACT && resourceVersion === '0') {
      causes.push(forbid(MATCH, `${MATCH} "exact" is forbidden for resourceVersion "0"`));
    }
  }
  if (sendInitialEvents !== undefined) {
    causes.push(forbid(INITIAL, `${INITIAL} is forbidden for list`));
  }
  return causes;
}

function watchErrors(options: ListOptions, isWatchListEnabled: boolean): StatusCause[] {
  const { resourceVersionMatch: match, sendInitialEvents } = options;
  const causes: StatusCause[] = [];
  if (sendInitialEvents !== undefined && match !== NOT_OLDER_THAN) {
    causes.push(forbid(MATCH, `${INITIAL} requires setting ${MATCH} to ${NOT_OLDER_THAN}`));
  }
  if (sendInitialEvents !== undefined && !isWatchListEnabled) {
    causes.push(
      forbid(INITIAL, `${INITIAL} is forbidden for watch unless the WatchList feature gate is enabled`),
    );
  }
  if (match !== '') {
    if (sendInitialEvents === undefined) {
      causes.push(forbid(MATCH, `${MATCH} is forbidden for watch unless ${INITIAL} is provided`));
    }
    if (match !== NOT_OLDER_THAN) causes.push(notSupported(match, [NOT_OLDER_THAN]));
    if (options.continue !== '') causes.push(MATCH_WITH_CONTINUE);
  }
  return causes;
}

const MATCH = 'resourceVersionMatch';
const INITIAL = 'sendInitialEvents';
const MATCH_WITH_CONTINUE = forbid(MATCH, `${MATCH} is forbidden when continue is provided`);

function forbid(field: string, rule: string): StatusCause {
  return { reason: 'FieldValueForbidden', message: `Forbidden: ${rule}`, field };
}

function notSupported(value: string, supported: readonly string[]): StatusCause {
  const values = supported.map(goQuote).join(', ');
  const message = `Unsupported value: ${goQuote(value)}: supported values: ${values}`;
  return { reason: 'FieldValueNotSupported', message, field: MATCH };
}
