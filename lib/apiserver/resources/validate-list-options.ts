import { invalidOptions } from '#lib/apiserver/http/failures.ts';
import type { StatusCause } from '#lib/apiserver/http/status-error.ts';
import { goQuote } from '#lib/kubernetes/selectors/go-quote.ts';
import type { ListOptions } from './list-options.ts';

const EXACT = 'Exact';
const NOT_OLDER_THAN = 'NotOlderThan';

/**
 * Refuses options that do not go together (`ValidateListOptions` of Kubernetes).
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
