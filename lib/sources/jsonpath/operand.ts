import { RE2JS } from 're2js';
import { isArray, isObject, type Json } from '../read-json.ts';

/** A value in a document, and the way to it. */
export interface Located {
  readonly value: Json;
  /** In its parent; `undefined` for the root. */
  readonly key: string | number | undefined;
  readonly parent: Located | undefined;
}

/** What a path leads to. */
export class Nodes {
  readonly all: readonly Located[];

  constructor(all: readonly Located[]) {
    this.all = all;
  }
}

/** What operators and functions are given. */
export type Operand = Json | Nodes;

/** The value itself; of several nodes, the list of their values. */
export function toJson(operand: Operand): Json {
  if (!(operand instanceof Nodes)) return operand;
  const [first, ...others] = operand.all;
  if (!first) throw new Error('a path leads to no value');
  return others.length === 0 ? first.value : operand.all.map(({ value }) => value);
}

/** Some 100 ms, during which nobody else has the event loop. */
const MAX_STEPS = 100_000;
const MEMBERS_PER_STEP = 16;
const MAX_PATTERN_LENGTH = 256;
/** Of reading a regular expression, which may come out of the document. */
const STEPS_PER_PATTERN = 2_000;

/**
 * How much work may be made of one document: who writes expressions and documents must not have us look through them
 * for ever.
 */
export class Budget {
  readonly #subject: string;
  #left = MAX_STEPS;
  readonly #patterns = new Map<string, RE2JS>();
  readonly #sizes = new Map<object, number>();

  /** @param subject what takes the steps, as errors name it */
  constructor(subject = 'the expression') {
    this.#subject = subject;
  }

  /** @throws when there is no more */
  spend(steps: number): void {
    this.#left -= steps;
    if (!(this.#left >= 0))
      throw new BudgetExhaustedError(`${this.#subject} takes more than ${MAX_STEPS} steps`);
  }

  /** How many members an object has, which are counted once. */
  sizeOf(object: object): number {
    let size = this.#sizes.get(object);
    if (size === undefined) {
      size = Object.keys(object).length;
      this.spend(size / MEMBERS_PER_STEP);
      this.#sizes.set(object, size);
    }
    return size;
  }

  /** A regular expression in the syntax of RE2, which takes time linear in the text; read once. */
  compilePattern(text: string): RE2JS {
    const known = this.#patterns.get(text);
    if (known) return known;
    if (text.length > MAX_PATTERN_LENGTH)
      throw new Error(`a regular expression must be no longer than ${MAX_PATTERN_LENGTH} characters`);
    this.spend(STEPS_PER_PATTERN);
    const pattern = RE2JS.compile(text);
    this.#patterns.set(text, pattern);
    return pattern;
  }
}

/** Is not to be taken for a condition that is not met. */
export class BudgetExhaustedError extends Error {}

/** What counts as a condition that is met: what is there and neither false, null, zero nor empty. */
export function isTrue(operand: Operand, budget: Budget): boolean {
  if (operand instanceof Nodes) {
    const [first, ...others] = operand.all;
    return first !== undefined && (others.length > 0 || isTrue(first.value, budget));
  }
  if (isArray(operand)) return operand.length > 0;
  if (isObject(operand)) return budget.sizeOf(operand) > 0;
  return Boolean(operand);
}
