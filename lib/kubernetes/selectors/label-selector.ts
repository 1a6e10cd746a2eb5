import { type LabelToken, lexLabelSelector } from './label-lexer.ts';
import {
  formatRequirement,
  type LabelOperator,
  type LabelRequirement,
  labelRequirement,
  requireLabelKey,
  satisfies,
} from './label-requirement.ts';
import { SelectorError } from './selector-error.ts';

/** Conditions on labels, all of which must hold; one without conditions matches everything. */
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
 * Reads a label selector by the whole grammar of Kubernetes (`labels.Parse`): `a=b,c!=d,e in (f,g),h,!i,j>1`.
 *
 * @throws {SelectorError} with Kubernetes' message
 */
export function parseLabelSelector(text: string): LabelSelector {
  const requirements = new Parser(lexLabelSelector(text)).selector();
  return new LabelSelector(requirements.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)));
}

/** Descends the grammar once; `in` and `notin` are words everywhere but where an operator is due. */
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

  /** `(a,b)`; nothing before or after a comma, and nothing at all, is the empty value. */
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

  /** Kubernetes reads two commas at once, which is why it refuses a bracket behind a pair of them. */
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
