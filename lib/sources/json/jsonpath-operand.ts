import { RE2JS } from 're2js';
import { isArray, isObject, type Json } from './read-json.ts';

/** A value in a document, and its location. */
export interface Located {
  readonly value: Json;
  /** In its parent; `undefined` for the root. */
  readonly key: string | number | undefined;
  readonly parent: Located | undefined;
}

/** The values that a path selects. */
export class Nodes {
  readonly all: readonly Located[];

  constructor(all: readonly Located[]) {
    this.all = all;
  }
}

export type Operand = Json | Nodes;

/** Returns the value of a single node, or the list of the values of several nodes. */
export function toJson(operand: Operand): Json {
  if (!(operand instanceof Nodes)) return operand;
  const [first, ...others] = operand.all;
  if (!first) throw new Error('a path of the expression matches no value');
  return others.length === 0 ? first.value : operand.all.map(({ value }) => value);
}

/** About 100 ms, which block the event loop. */
const MAX_STEPS = 100_000;
const MEMBERS_PER_STEP = 16;
const MAX_PATTERN_LENGTH = 256;
/** Cost of compiling a regular expression, which may come from the document. */
const STEPS_PER_PATTERN = 2_000;

/**
 * Limits the work per document, since expressions and documents are untrusted.
 */
export class Budget {
  readonly #subject: string;
  #left = MAX_STEPS;
  readonly #patterns = new Map<string, RE2JS>();
  readonly #sizes = new Map<object, number>();

  /** @param subject named in errors */
  constructor(subject = 'the expression') {
    this.#subject = subject;
  }

  /** @throws {BudgetExhaustedError} */
  spend(steps: number): void {
    this.#left -= steps;
    if (!(this.#left >= 0))
      throw new BudgetExhaustedError(`${this.#subject} takes more than ${MAX_STEPS} steps`);
  }

  /** Returns the number of members of an object, from a cache. */
  sizeOf(object: object): number {
    let size = this.#sizes.get(object);
    if (size === undefined) {
      size = Object.keys(object).length;
      this.spend(size / MEMBERS_PER_STEP);
      this.#sizes.set(object, size);
    }
    return size;
  }

  /** Compiles a regular expression of RE2, or returns it from a cache. */
  compilePattern(text: string): RE2JS {
    const cached = this.#patterns.get(text);
    if (cached) return cached;
    if (text.length > MAX_PATTERN_LENGTH)
      throw new Error(`a regular expression must be no longer than ${MAX_PATTERN_LENGTH} characters`);
    this.spend(STEPS_PER_PATTERN);
    const pattern = RE2JS.compile(text);
    this.#patterns.set(text, pattern);
    return pattern;
  }
}

/** Distinct from errors of conditions, which mean that a condition is not met. */
export class BudgetExhaustedError extends Error {}

/** Whether a condition is met: a value exists and is not false, null, zero or empty. */
export function isTrue(operand: Operand, budget: Budget): boolean {
  if (operand instanceof Nodes) {
    const [first, ...others] = operand.all;
    return first !== undefined && (others.length > 0 || isTrue(first.value, budget));
  }
  if (isArray(operand)) return operand.length > 0;
  if (isObject(operand)) return budget.sizeOf(operand) > 0;
  return Boolean(operand);
}
