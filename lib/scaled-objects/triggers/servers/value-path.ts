import { propertyOf } from '#lib/kubernetes/object-metadata.ts';

const MOST_STEPS = 64;
const QUERY = /^#\(([^=!<>%]+)(==|!=|<=|>=|<|>)("[^"]*"|[^")]*)\)(#?)$/;

/**
 * The value at a path as in `queues.0.depth`: keys and indexes with dots between, `\` before a dot that is a part of a
 * key, `#` for the length of an array, `#.key` for the values of all its items, `#(key=="value")` for its first item of
 * which that holds, and `#(key>1)#` for all of them.
 *
 * @returns `undefined` where nothing is there
 * @throws where the path has too many steps
 */
export function valueAtPath(document: unknown, path: string): unknown {
  const steps = stepsOf(path);
  if (steps.length > MOST_STEPS)
    throw new Error(`value ${path.slice(0, 100)} has more than ${MOST_STEPS} steps`);
  return walk(document, steps);
}

function walk(value: unknown, steps: readonly string[]): unknown {
  let current = value;
  for (const [index, step] of steps.entries()) {
    if (current === undefined || current === null) return undefined;
    if (!Array.isArray(current)) {
      current = propertyOf(current, step);
      continue;
    }
    const rest = steps.slice(index + 1);
    if (step === '#') return rest.length === 0 ? current.length : collect(current, rest);
    const query = QUERY.exec(step);
    if (query) {
      const [, key = '', operator = '', literal = '', all] = query;
      const holds = (item: unknown) => compare(walk(item, stepsOf(key.trim())), operator, literal.trim());
      if (all === '#')
        return rest[0] === '#' ? current.filter(holds).length : collect(current.filter(holds), rest);
      current = current.find(holds);
      continue;
    }
    current = /^\d{1,9}$/.test(step) ? current[Number(step)] : undefined;
  }
  return current;
}

function collect(items: readonly unknown[], rest: readonly string[]): unknown {
  return items.map((item) => walk(item, rest)).filter((item) => item !== undefined);
}

function compare(value: unknown, operator: string, literal: string): boolean {
  const isText = literal.startsWith('"');
  const wanted = isText ? literal.slice(1, -1) : Number.isNaN(Number(literal)) ? literal : Number(literal);
  const given = isText || typeof wanted === 'string' ? String(value) : value;
  if (operator === '==') return given === wanted;
  if (operator === '!=') return given !== wanted;
  if (typeof given !== typeof wanted || given === null || given === undefined) return false;
  if (operator === '<') return given < wanted;
  if (operator === '<=') return given <= wanted;
  return operator === '>' ? given > wanted : given >= wanted;
}

/** Splits at dots that neither a backslash nor a parenthesis protects. */
function stepsOf(path: string): string[] {
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
