import { getOwn } from '../get-own.ts';
import { goQuote } from './go-quote.ts';

/** Requirements for labels, all of which must be satisfied; one without requirements matches everything. */
export class LabelSelector {
  /** Sorted by key. */
  readonly requirements: readonly LabelRequirement[];

  constructor(requirements: readonly LabelRequirement[]) {
    this.requirements = requirements;
  }

  matches(labels: Readonly<Record<string, string>>): boolean {
    for (const requirement of this.requirements) if (!satisfies(labels, requirement)) return false;
    return true;
  }

  /** The canonical text, which parses to an equal selector. */
  toString(): string {
    return this.requirements.map(formatRequirement).join(',');
  }
}

/**
 * In UTF-16 units, of the selectors of workloads and scales, which are parsed again for each object that refers to
 * them. Ten requirements of the longest keys and values have 3,900.
 */
export const MAX_SELECTOR_LENGTH = 4096;

/**
 * Parses a label selector by the whole grammar of Kubernetes (`labels.Parse`): `a=b,c!=d,e in (f,g),h,!i,j>1`.
 *
 * @throws {SelectorError} with Kubernetes' message
 */
export function parseLabelSelector(text: string): LabelSelector {
  const requirements = new Parser(lexLabelSelector(text)).selector();
  return new LabelSelector(requirements.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)));
}

/** A recursive descent parser; `in` and `notin` are identifiers except where an operator is expected. */
class Parser {
  readonly #tokens: readonly LabelToken[];
  #position = 0;

  constructor(tokens: readonly LabelToken[]) {
    this.#tokens = tokens;
  }

  selector(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    if (this.#at('end')) return requirements;
    for (;;) {
      if (!this.#at('word', '!')) throw this.#unexpected(", expected: !, identifier, or 'end of string'");
      requirements.push(this.#requirement());
      if (this.#at('end')) return requirements;
      if (!this.#at(',')) throw this.#unexpected(", expected: ',' or 'end of string'");
      this.#take();
      if (!this.#at('word', '!')) throw this.#unexpected(", expected: identifier after ','");
    }
  }

  #requirement(): LabelRequirement {
    try {
      const isNegated = this.#at('!');
      if (isNegated) this.#take();
      if (!this.#at('word')) throw this.#unexpected(', expected: identifier');
      const key = this.#take().text;
      requireLabelKey(key);
      if (isNegated) return labelRequirement(key, '!', []);
      if (this.#at('end', ',')) return labelRequirement(key, 'exists', []);
      const operator = this.#operator();
      const values = operator === 'in' || operator === 'notin' ? this.#values() : [this.#value()];
      return labelRequirement(key, operator, values);
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
      throw new SelectorError(`unable to parse requirement: ${error.message}`);
    }
  }

  #operator(): LabelOperator {
    const operator = OPERATORS[this.#peek().kind];
    if (operator === undefined) throw this.#unexpected(', expected: in, notin, =, ==, !=, gt, lt');
    this.#take();
    return operator;
  }

  /** `(a,b)`; nothing before or after a comma, and an empty list, is the empty value. */
  #values(): readonly string[] {
    if (!this.#at('(')) throw this.#unexpected(" expected: '('");
    this.#take();
    if (!this.#at('word', ',', ')')) throw this.#unexpected(", expected: ',', ')' or identifier");
    const values = new Set<string>(this.#at(')') ? [''] : []);
    while (!this.#at(')')) {
      if (this.#at('word')) {
        values.add(this.#take().text);
        if (!this.#at(',', ')')) throw this.#unexpected(", expected: ',' or ')'");
      } else {
        this.#comma(values);
      }
    }
    this.#take();
    return [...values].sort();
  }

  /** Kubernetes reads two commas at once, so it refuses a bracket after two of them. */
  #comma(values: Set<string>): void {
    this.#take();
    if (values.size === 0 || this.#at(',', ')')) values.add('');
    if (this.#at(')')) return;
    if (this.#at(',')) this.#take();
    if (!this.#at('word', ',')) throw this.#unexpected(", expected: ',', or identifier");
  }

  #value(): string {
    if (this.#at('end', ',')) return '';
    if (!this.#at('word')) throw this.#unexpected(', expected: identifier');
    return this.#take().text;
  }

  #peek(): LabelToken {
    return this.#tokens[this.#position] ?? END;
  }

  #take(): LabelToken {
    const token = this.#peek();
    this.#position++;
    return token;
  }

  #at(...kinds: readonly LabelToken['kind'][]): boolean {
    const { kind } = this.#peek();
    return kinds.includes(kind === 'in' || kind === 'notin' ? 'word' : kind);
  }

  #unexpected(expectation: string): SelectorError {
    return new SelectorError(`found '${this.#peek().text}'${expectation}`);
  }
}

const END: LabelToken = { kind: 'end', text: '' };

const OPERATORS: Partial<Record<LabelToken['kind'], LabelOperator>> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': 'gt',
  '<': 'lt',
};

/** A token of a label selector: an operator or bracket is a kind of its own, anything else is a word. */
interface LabelToken {
  readonly kind: '(' | ')' | ',' | '!' | '!=' | '=' | '==' | '>' | '<' | 'in' | 'notin' | 'word' | 'end';
  readonly text: string;
}

// As in Kubernetes' lexer, a NUL ends the text where a token is expected and is skipped after one.
const TOKEN = /[ \t\r\n]*(?:(==|!=|[=!(),<>])\0?|([^=!(),<> \t\r\n\0]+)\0?)/gy;

/** Splits a label selector into its tokens; the last one is always the end. */
function lexLabelSelector(text: string): readonly LabelToken[] {
  const tokens: LabelToken[] = [];
  for (const [, symbol, word] of text.matchAll(TOKEN)) {
    tokens.push(
      symbol === undefined ? wordToken(word ?? '') : { kind: symbol as LabelToken['kind'], text: symbol },
    );
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

function wordToken(text: string): LabelToken {
  return { kind: text === 'in' || text === 'notin' ? text : 'word', text };
}

/** Operators of a requirement, as Kubernetes' `selection.Operator` names them. */
export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

/** One requirement of a label selector. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  /** Distinct and sorted; one for equalities and comparisons, none for existence. */
  readonly values: readonly string[];
}

/**
 * Makes a requirement of its parsed parts.
 *
 * @throws {SelectorError} for an invalid key or value, a compared value that is not an integer, and a wrong number of
 * values
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

/** @throws {SelectorError} for an invalid label key */
function requireLabelKey(key: string): void {
  const errors = labelKeyErrors(key);
  if (errors.length > 0) throw new SelectorError(invalid('<nil>', goQuote(key), errors.join('; ')));
}

/** Whether labels satisfy a requirement; an absent label satisfies only negative ones. */
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
function isAmong(values: readonly string[], sought: string): boolean {
  let [from, to] = [0, values.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    const value = values[middle] ?? '';
    if (value === sought) return true;
    if (value < sought) from = middle + 1;
    else to = middle;
  }
  return false;
}

/** Formats a requirement as Kubernetes does, which is what is sent to its API server. */
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

/** Parses an integer as Go's `strconv.ParseInt(text, 10, 64)` does. */
function toInt64(text: string): bigint | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined;
  const value = BigInt(text.replace('+', ''));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}

/** One `field.Invalid` of Kubernetes, with the value as it formats it. */
function invalid(path: string, value: string, reason: string): string {
  return `${path}: Invalid value: ${value}: ${reason}`;
}

const NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const VALUE = `(${NAME})?`;
const SUBDOMAIN_PART = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${SUBDOMAIN_PART}(\\.${SUBDOMAIN_PART})*`;

const NAME_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character" +
  ` (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${NAME}')`;
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', " +
  'and must start and end with an alphanumeric character ' +
  `(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '${VALUE}')`;
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', " +
  `and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`;

const MAX_NAME_BYTES = 63;
const MAX_SUBDOMAIN_BYTES = 253;

/**
 * Errors of a label key (`[DNS subdomain "/"] name`), in the words of Kubernetes' `IsQualifiedName`.
 *
 * @param what the expected type: `a valid label key` in newer releases of Kubernetes
 * @returns one sentence for each broken rule; empty when the key is valid
 */
function labelKeyErrors(key: string, what = 'a qualified name'): readonly string[] {
  const parts = key.split('/');
  if (parts.length > 2) {
    return [`${what} ${NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = parts.at(-1) ?? '';
  return [...(parts.length === 2 ? prefixErrors(parts[0] ?? '') : []), ...nameErrors(name)];
}

/** Errors of a label value, in the words of Kubernetes' `IsValidLabelValue`; empty when it is valid. */
function labelValueErrors(value: string): readonly string[] {
  const errors: string[] = [];
  if (Buffer.byteLength(value) > MAX_NAME_BYTES) errors.push(tooLong(MAX_NAME_BYTES));
  if (!WHOLE_VALUE.test(value)) errors.push(VALUE_RULE);
  return errors;
}

const WHOLE_NAME = new RegExp(`^${NAME}$`);
const WHOLE_VALUE = new RegExp(`^${VALUE}$`);
const WHOLE_SUBDOMAIN = new RegExp(`^${SUBDOMAIN}$`);

function prefixErrors(prefix: string): readonly string[] {
  if (prefix === '') return ['prefix part must be non-empty'];
  const errors: string[] = [];
  if (Buffer.byteLength(prefix) > MAX_SUBDOMAIN_BYTES) errors.push(tooLong(MAX_SUBDOMAIN_BYTES));
  if (!WHOLE_SUBDOMAIN.test(prefix)) errors.push(SUBDOMAIN_RULE);
  return errors.map((error) => `prefix part ${error}`);
}

function nameErrors(name: string): readonly string[] {
  const errors: string[] = [];
  if (name === '') errors.push('name part must be non-empty');
  else if (Buffer.byteLength(name) > MAX_NAME_BYTES) errors.push(`name part ${tooLong(MAX_NAME_BYTES)}`);
  if (!WHOLE_NAME.test(name)) errors.push(`name part ${NAME_RULE}`);
  return errors;
}

function tooLong(bytes: number): string {
  return `must be no more than ${bytes} bytes`;
}

/** A selector that Kubernetes would refuse, with the message of its API server. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError';
}

/** A label that all objects of a selector have. */
interface LabelEquality {
  readonly key: string;
  readonly value: string;
}

/** A label for which a selector requires one value; `undefined` for a selector without such a requirement. */
export function equalityOf(selector: LabelSelector): LabelEquality | undefined {
  for (const { key, operator, values } of selector.requirements) {
    const [value] = values;
    if (value !== undefined && values.length === 1 && EQUALITIES.has(operator)) return { key, value };
  }
  return undefined;
}

const EQUALITIES: ReadonlySet<string> = new Set(['=', '==', 'in']);
