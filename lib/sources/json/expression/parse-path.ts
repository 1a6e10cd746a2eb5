import type { Scanner } from './scanner.ts';
import type { Expression, Path, Selector, Step } from './syntax.ts';

/** How a path is read. */
export interface PathContext {
  /** Reads an expression in brackets. */
  readonly parseExpression: (scanner: Scanner) => Expression;
  /** A path that stands alone has names of more characters than one among operators. */
  readonly standsAlone: boolean;
}

const LONE_NAME = (character: string) => !'.[]\'"'.includes(character);
const NAME = (character: string) => /[\p{L}\p{N}_]/u.test(character);
const INTEGER = /-?\d{1,15}/y;

/** Reads a path in Goessner's JSONPath, behind the `$` or `@` that it begins with. */
export function parsePath(scanner: Scanner, from: Path['from'], context: PathContext): Path {
  const steps: Step[] = [];
  for (;;) {
    if (context.standsAlone) scanner.skipSpace();
    if (scanner.takes('..')) {
      const isBracket = scanner.next === '[';
      if (isBracket) scanner.expect('[');
      steps.push({
        isDeep: true,
        selectors: isBracket ? bracket(scanner, context) : [dot(scanner, context)],
      });
    } else if (scanner.takes('.')) steps.push({ isDeep: false, selectors: [dot(scanner, context)] });
    else if (scanner.takes('[')) steps.push({ isDeep: false, selectors: bracket(scanner, context) });
    else return { from, steps };
  }
}

/** `*` or a name, behind a dot. */
function dot(scanner: Scanner, { standsAlone }: PathContext): Selector {
  if (scanner.takes('*')) return { kind: 'all' };
  const name = scanner.takeWhile(standsAlone ? LONE_NAME : NAME);
  return name === '' ? scanner.fail('a name or "*"') : { kind: 'name', name };
}

/** Everything in brackets, behind the opening one. */
function bracket(scanner: Scanner, context: PathContext): readonly Selector[] {
  return scanner.within(() => {
    const selectors: Selector[] = [];
    for (;;) {
      scanner.skipSpace();
      selectors.push(selector(scanner, context));
      scanner.skipSpace();
      if (scanner.takes(']')) return selectors;
      if (!scanner.takes(',')) scanner.fail('"," or "]"');
    }
  });
}

function selector(scanner: Scanner, { parseExpression }: PathContext): Selector {
  if (scanner.takes('*')) return { kind: 'all' };
  if (scanner.takes('?')) return { kind: 'filter', condition: parseExpression(scanner) };
  if (scanner.next === '(') return { kind: 'script', expression: parseExpression(scanner) };
  if (scanner.next === "'" || scanner.next === '"') return { kind: 'name', name: scanner.takeQuoted() };
  const start = integer(scanner);
  scanner.skipSpace();
  if (!scanner.takes(':')) {
    return start === undefined
      ? scanner.fail('a name in quotes, an index, "*" or "?"')
      : { kind: 'index', index: start };
  }
  const end = integer(scanner);
  scanner.skipSpace();
  const step = scanner.takes(':') ? integer(scanner) : undefined;
  if (step === 0) scanner.fail('a step other than 0');
  return { kind: 'slice', start, end, step: step ?? 1 };
}

function integer(scanner: Scanner): number | undefined {
  scanner.skipSpace();
  const text = scanner.takeMatch(INTEGER);
  return text === undefined ? undefined : Number(text);
}
