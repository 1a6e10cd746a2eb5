import { globSync, readFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { type AnyNode, parse } from 'acorn';
import { nodesOf } from './syntax-tree.ts';

/** A regular expression in a source. */
export interface Expression {
  readonly path: string;
  readonly line: number;
  /** `undefined` if it is built from values that are only available at run time. */
  readonly pattern: string | undefined;
  readonly flags: string;
}

// The plain JavaScript checker, which needs neither a binary of this platform nor Java.
const { checkSync } = createRequire(import.meta.url)('recheck/lib/browser.js') as typeof import('recheck');

/** Every regular expression in the sources below a folder of the checkout, including those of web pages. */
export function readExpressions(folder: string): readonly Expression[] {
  return globSync(`${folder}/**/*.{ts,js}`)
    .sort()
    .flatMap((path) => {
      const text = readFileSync(path, 'utf8');
      return findExpressions(path, path.endsWith('.ts') ? stripTypeScriptTypes(text) : text);
    });
}

/** Finds literals, `RegExp` of literals and constants, and texts that `match` and `search` compile. */
export function findExpressions(path: string, code: string): readonly Expression[] {
  const nodes = [...nodesOf(parse(code, { ecmaVersion: 'latest', sourceType: 'module', locations: true }))];
  const constants = new Map<string, AnyNode>();
  for (const node of nodes) {
    if (node.type !== 'VariableDeclaration' || node.kind !== 'const') continue;
    for (const { id, init } of node.declarations) {
      if (id.type === 'Identifier' && init) constants.set(id.name, init);
    }
  }
  return nodes.flatMap((node): Expression[] => {
    const place = { path, line: node.loc?.start.line ?? 0 };
    if (node.type === 'Literal' && node.regex) return [{ ...place, ...node.regex }];
    if (node.type !== 'NewExpression' && node.type !== 'CallExpression') return [];
    const [pattern, flags] = node.arguments;
    const { callee } = node;
    if (callee.type === 'Identifier' && callee.name === 'RegExp') {
      return [
        {
          ...{ ...place, pattern: textOf(pattern, constants) },
          flags: flags ? (textOf(flags, constants) ?? '') : '',
        },
      ];
    }
    const isMatching =
      callee.type === 'MemberExpression' &&
      callee.property.type === 'Identifier' &&
      /^(match|matchAll|search)$/.test(callee.property.name);
    const text = isMatching ? textOf(pattern, constants) : undefined;
    return text === undefined ? [] : [{ ...place, pattern: text, flags: '' }];
  });
}

/**
 * Describes the fault of an expression.
 *
 * @returns `undefined` if its steps grow linearly with the text at most; an undecidable expression is a fault
 */
export function faultOf({ pattern, flags }: Pick<Expression, 'pattern' | 'flags'>): string | undefined {
  if (pattern === undefined) return 'is put together at run time, so nobody can tell what it costs';
  // Only the automaton checker decides; the fuzz checker may miss faults.
  const options = { checker: 'automaton', maxRepeatCount: 100, timeout: 120_000 } as const;
  const found = checkSync(pattern, flags, options);
  if (found.status === 'safe') return undefined;
  if (found.status === 'unknown')
    return `cannot be judged: ${found.error.kind}, ${JSON.stringify(found.error)}`;
  return `takes ${found.complexity.summary} many steps, as for ${found.attack.pattern}`;
}

/** The text of an expression of constants of the file; `undefined` for any other expression. */
function textOf(node: AnyNode | undefined, constants: ReadonlyMap<string, AnyNode>): string | undefined {
  if (node?.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  if (node?.type === 'Identifier') return textOf(constants.get(node.name), constants);
  if (node?.type !== 'TemplateLiteral') return undefined;
  const parts = node.quasis.map(({ value }, index) => {
    const behind = node.expressions[index];
    const inserted = behind ? textOf(behind, constants) : '';
    return inserted === undefined ? undefined : `${value.cooked}${inserted}`;
  });
  return parts.includes(undefined) ? undefined : parts.join('');
}
