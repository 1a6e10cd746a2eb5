import { getOwn } from '#lib/kubernetes/get-own.ts';
import { goQuote } from './go-quote.ts';
import { labelKeyErrors, labelValueErrors } from './label-syntax.ts';
import { SelectorError } from './selector-error.ts';

/** How a requirement relates its key to its values, as Kubernetes' `selection.Operator` names them. */
export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

/** One condition of a label selector; all of them must hold. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Distinct and sorted; one for the equalities and comparisons, none for existence. */
  readonly values: readonly string[];
}

/**
 * Makes a requirement of its parsed parts.
 *
 * @throws {SelectorError} when the key is no label key, a value is no label value, or is compared and is no integer, or
 *   there are values where there may be none, or none where there must be some
 */
export function labelRequirement(
  key: string,
  operator: LabelOperator,
  values: readonly string[],
): LabelRequirement {
  const keyErrors = labelKeyErrors(key, 'a valid label key');
  const errors = keyErrors.length > 0 ? [invalid('key', goQuote(key), keyErrors.join('; '))] : [];
  if ((operator === 'in' || operator === 'notin') && values.length === 0)
    errors.push(invalid('values', 'null', "for 'in', 'notin' operators, values set can't be empty"));
  if ((operator === 'exists' || operator === '!') && values.length > 0)
    errors.push(
      invalid('values', JSON.stringify(values), 'values set must be empty for exists and does not exist'),
    );
  if (operator === 'gt' || operator === 'lt') {
    values.forEach((value, index) => {
      if (toInt64(value) !== undefined) return;
      errors.push(
        invalid(`values[${index}]`, goQuote(value), "for 'Gt', 'Lt' operators, the value must be an integer"),
      );
    });
  }
  values.forEach((value, index) => {
    const reasons = labelValueErrors(value);
    if (reasons.length > 0)
      errors.push(invalid(`values[${index}][${key}]`, goQuote(value), reasons.join('; ')));
  });
  if (errors.length > 0) throw new SelectorError(errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`);
  return { key, operator, values: [...new Set(values)].sort() };
}

/** @throws {SelectorError} when the key is no label key */
export function requireLabelKey(key: string): void {
  const errors = labelKeyErrors(key);
  if (errors.length > 0) throw new SelectorError(invalid('<nil>', goQuote(key), errors.join('; ')));
}

/** Whether labels satisfy a requirement; a label whose key is missing satisfies only the negative ones. */
export function satisfies(labels: Readonly<Record<string, string>>, requirement: LabelRequirement): boolean {
  const { key, operator, values } = requirement;
  const value = getOwn(labels, key);
  switch (operator) {
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case '=':
    case '==':
    case 'in':
      return value !== undefined && isAmong(values, value);
    case '!=':
    case 'notin':
      return value === undefined || !isAmong(values, value);
    default:
      return value !== undefined && compares(toInt64(value), operator, toInt64(values[0] ?? ''));
  }
}

/** @param values sorted: a requirement may have thousands, and every object is compared with them */
function isAmong(values: readonly string[], wanted: string): boolean {
  let [from, to] = [0, values.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    const value = values[middle] ?? '';
    if (value === wanted) return true;
    if (value < wanted) from = middle + 1;
    else to = middle;
  }
  return false;
}

/** Writes a requirement as Kubernetes does, which is what is sent to its API server. */
export function formatRequirement({ key, operator, values }: LabelRequirement): string {
  switch (operator) {
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    case 'in':
    case 'notin':
      return `${key} ${operator} (${values.join(',')})`;
    case 'gt':
      return `${key}>${values[0]}`;
    case 'lt':
      return `${key}<${values[0]}`;
    default:
      return `${key}${operator}${values[0]}`;
  }
}

function compares(value: bigint | undefined, operator: 'gt' | 'lt', bound: bigint | undefined): boolean {
  if (value === undefined || bound === undefined) return false;
  return operator === 'gt' ? value > bound : value < bound;
}

/** Reads an integer as Go's `strconv.ParseInt(text, 10, 64)` does. */
function toInt64(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text.replace('+', ''));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** One `field.Invalid` of Kubernetes, of a value as that prints it. */
function invalid(path: string, value: string, reason: string): string {
  return `${path}: Invalid value: ${value}: ${reason}`;
}
