import { type FieldSelector, parseFieldSelector } from '#lib/kubernetes/selectors/field-selector.ts';
import { type LabelSelector, parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { SelectorError } from '#lib/kubernetes/selectors/selector-error.ts';
import { badRequest } from './status-error.ts';

/** A selector as it was sent, and what it says; read once for everybody who looks at it. */
export interface SentSelector<Selector> {
  readonly text: string;
  /** The error, where it cannot be read: who may not list at all is not told of it. */
  readonly parsed: Selector | SelectorError;
}

/** The selectors of a request for several objects. */
export interface RequestSelectors {
  readonly label: SentSelector<LabelSelector>;
  readonly field: SentSelector<FieldSelector>;
}

/** How long a selector may be. */
export const MAX_SELECTOR_BYTES = 16 * 1024;

/** How many requirements it may have. */
const MAX_REQUIREMENTS = 500;

/** The selectors of a request that has none. */
export const NO_SELECTORS: RequestSelectors = {
  label: read('labelSelector', '', parseLabelSelector),
  field: read('fieldSelector', '', parseFieldSelector),
};

/** @throws {StatusError} 400 for a selector that is longer, or has more requirements, than any client has need of */
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
    throw badRequest(`invalid ${name}: must have no more than ${MAX_SELECTOR_BYTES} bytes`);
  }
  const parsed = understood(() => parse(text));
  if (!(parsed instanceof SelectorError) && parsed.requirements.length > MAX_REQUIREMENTS) {
    throw badRequest(`invalid ${name}: must have no more than ${MAX_REQUIREMENTS} requirements`);
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
