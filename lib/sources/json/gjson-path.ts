import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { Budget } from './jsonpath-operand.ts';

const MAX_STEPS = 64;
/** Path steps per step of the budget: they are cheaper than steps of expressions. */
const PATH_STEPS_PER_STEP = 4;
const QUERY = /^#\(([^=!<>%]+)(==|!=|<=|>=|<|>)("[^"]*"|[^")]*)\)(#?)$/;

/**
 * Finds the value at a path such as `queues.0.depth`: keys and indexes separated by dots, `\` before a dot in a key,
 * `#` for the length of an array, `#.key` for the values of all its items, `#(key=="value")` for its first matching
 * item, and `#(key>1)#` for all matching items.
 *
 * @returns `undefined` if there is no value
 * @throws if the path has too many steps, or takes too many in the document
 */
export function findValueAtPath(document: unknown, path: string): unknown {
  const steps = parseSteps(path);
  return walk(document, { steps, from: 0, budget: new Budget('the valueLocation') });
}

interface Walk {
  readonly steps: readonly Step[];
  /** Index of the first step. */
  readonly from: number;
  readonly budget: Budget;
}

/** A parsed step of a path. */
interface Step {
  readonly text: string;
  /** `undefined` for a step without a query. */
  readonly choice: Choice | undefined;
}

interface Choice {
  readonly key: readonly Step[];
  readonly operator: string;
  /** Compared with the value at the key, as strings if `isText`. */
  readonly operand: string | number;
  readonly isText: boolean;
  readonly isOfAll: boolean;
}

function walk(value: unknown, { steps, from, budget }: Walk): unknown {
  budget.spend((steps.length - from) / PATH_STEPS_PER_STEP);
  let current = value;
  for (let index = from; index < steps.length; index++) {
    const { text = '', choice } = steps[index] ?? {};
    if (current === undefined || current === null) return undefined;
    if (!Array.isArray(current)) {
      current = propertyOf(current, text);
      continue;
    }
    const rest = { steps, from: index + 1, budget };
    const next = steps[index + 1];
    if (text === '#') return next ? collect(current, rest) : current.length;
    if (choice) {
      const key = { steps: choice.key, from: 0, budget };
      const matches = (item: unknown) => compare(walk(item, key), choice);
      if (choice.isOfAll) {
        const chosen = current.filter(matches);
        return next?.text === '#' ? chosen.length : collect(chosen, rest);
      }
      current = current.find(matches);
      continue;
    }
    current = /^\d{1,9}$/.test(text) ? current[Number(text)] : undefined;
  }
  return current;
}

function collect(items: readonly unknown[], rest: Walk): unknown {
  return items.map((item) => walk(item, rest)).filter((item) => item !== undefined);
}

/** Arrays and objects match nothing, since converting them to strings takes time. */
function compare(value: unknown, { operator, operand, isText }: Choice): boolean {
  if (typeof value === 'object' && value !== null) return false;
  const given = isText || typeof operand === 'string' ? String(value) : value;
  if (operator === '==') return given === operand;
  if (operator === '!=') return given !== operand;
  if (typeof given !== typeof operand || given === null || given === undefined) return false;
  if (operator === '<') return given < operand;
  if (operator === '<=') return given <= operand;
  return operator === '>' ? given > operand : given >= operand;
}

function parseSteps(path: string): readonly Step[] {
  const texts = splitSteps(path);
  if (texts.length > MAX_STEPS)
    throw new Error(`valueLocation "${path.slice(0, 100)}" has more than ${MAX_STEPS} steps`);
  return texts.map((text) => ({ text, choice: parseChoice(text) }));
}

function parseChoice(text: string): Choice | undefined {
  const query = QUERY.exec(text);
  if (!query) return undefined;
  const [, key = '', operator = '', literal = '', all] = query;
  const trimmed = literal.trim();
  const isText = trimmed.startsWith('"');
  const number = Number(trimmed);
  return {
    key: parseSteps(key.trim()),
    ...{ operator, isText, isOfAll: all === '#' },
    operand: isText ? trimmed.slice(1, -1) : Number.isNaN(number) ? trimmed : number,
  };
}

/** Splits at dots that are not escaped and not in parentheses. */
function splitSteps(path: string): string[] {
  const steps: string[] = [];
  let step: string[] = [];
  let isEscaped = false;
  let depth = 0;
  for (const character of path) {
    if (isEscaped) {
      step.push(character);
      isEscaped = false;
    } else if (character === '\\') isEscaped = true;
    else if (character === '.' && depth === 0) {
      steps.push(step.join(''));
      step = [];
    } else {
      if (character === '(') depth++;
      if (character === ')') depth--;
      step.push(character);
    }
  }
  return [...steps, step.join('')];
}
