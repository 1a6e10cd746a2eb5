import { getOwn } from '#lib/kubernetes/get-own.ts';
import { goQuote } from './go-quote.ts';
import { SelectorError } from './label-selector.ts';

/** One requirement of a field selector. */
export interface FieldRequirement {
  /** A path like `metadata.name`. */
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** Requirements for an object's fields, all of which must be satisfied; one without requirements matches everything. */
export class FieldSelector {
  readonly requirements: readonly FieldRequirement[];

  constructor(requirements: readonly FieldRequirement[]) {
    this.requirements = requirements;
  }

  /** @param fields the object's fields by path; a missing one counts as empty */
  matches(fields: Readonly<Record<string, string>>): boolean {
    return this.requirements.every(({ field, operator, value }) => {
      const actual = getOwn(fields, field) ?? '';
      return (actual === value) === (operator === '=');
    });
  }

  /** The only value that the selector admits for a field; `undefined` when it admits several. */
  exactValue(field: string): string | undefined {
    return this.requirements.find((one) => one.field === field && one.operator === '=')?.value;
  }

  /** The canonical text, which parses to an equal selector. */
  toString(): string {
    return this.requirements
      .map(({ field, operator, value }) => field + operator + escapeValue(value))
      .join(',');
  }
}

/** The fields that every kind can be selected by in Kubernetes. */
const METADATA_FIELDS = ['metadata.name', 'metadata.namespace'];

/**
 * Parses a field selector by the grammar of Kubernetes (`fields.ParseSelector`):
 * `metadata.name=a,metadata.namespace!=b`, with `\,`, `\=` and `\\` for those characters in values.
 *
 * @param supportedFields by default name and namespace; `any` if they depend on a kind that only the API server knows
 * @throws {SelectorError} with Kubernetes' message
 */
export function parseFieldSelector(
  text: string,
  supportedFields: readonly string[] | 'any' = METADATA_FIELDS,
): FieldSelector {
  const requirements = splitTerms(text)
    .sort()
    .map((term) => parseTerm(term, text))
    .filter(({ field, value }) => field !== '' || value !== ''); // Kubernetes ignores a bare operator
  for (const { field } of requirements) {
    if (supportedFields === 'any' || supportedFields.includes(field)) continue;
    const supported = supportedFields.map(goQuote).join(', ');
    throw new SelectorError(`${goQuote(field)} is not a known field selector: only ${supported}`);
  }
  return new FieldSelector(requirements);
}

/** Splits at the commas without a preceding backslash; empty terms are ignored. */
function splitTerms(text: string): string[] {
  return text.match(/(?:\\.|[^,\\]|\\$)+/gsu) ?? [];
}

function parseTerm(term: string, text: string): FieldRequirement {
  const match = /^(.*?)(!=|==?)(.*)$/su.exec(term);
  if (!match) throw new SelectorError(`invalid selector: '${text}'; can't understand '${term}'`);
  const [, field = '', operator, value = ''] = match;
  return { field, operator: operator === '!=' ? '!=' : '=', value: unescapeValue(value) };
}

function escapeValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&');
}

function unescapeValue(text: string): string {
  return text.replace(/\\(.?)|=/gsu, (piece, escaped: string | undefined) => {
    if (escaped === undefined) {
      throw new SelectorError(
        `invalid field selector: unescaped character in value: ${piece.codePointAt(0)}`,
      );
    }
    if (escaped === '' || !'\\,='.includes(escaped)) {
      throw new SelectorError(`invalid field selector: invalid escape sequence: ${piece}`);
    }
    return escaped;
  });
}
