import {
  type BinaryExpression,
  type BindingElement,
  type CallExpression,
  type ComputedPropertyName,
  type ElementAccessExpression,
  type Node,
  type SourceFile,
  SyntaxKind,
} from 'typescript/unstable/ast';
import { API, type Checker, type Type, TypeFlags, type UnionType } from 'typescript/unstable/sync';

/** An expression that looks a key up in an object including its prototype, or that writes to it. */
export interface IndexAccess {
  /** Relative to the root of the checkout. */
  readonly path: string;
  readonly line: number;
  readonly code: string;
}

/**
 * Finds index access by keys that are neither numbers, symbols nor of a literal type, by the compiler's types:
 * `record[key]`, `{ [key]: value } = record`, `key in record`, `Reflect.get`, and `Object.assign` of a record.
 *
 * @param isMeant selects sources by their path relative to the root of the checkout
 */
export function findIndexAccesses(isMeant: (path: string) => boolean): readonly IndexAccess[] {
  const root = process.cwd();
  const api = new API({ cwd: root });
  try {
    const [project] = api.updateSnapshot({ openProjects: ['tsconfig.json'] }).getProjects();
    if (!project) throw new Error('Cannot open tsconfig.json');
    const { checker, program } = project;
    return program.getSourceFileNames().flatMap((file) => {
      const path = file.startsWith(`${root}/`) ? file.slice(root.length + 1) : file;
      const source = isMeant(path) ? program.getSourceFile(file) : undefined;
      if (!source) return [];
      return accessesIn(source, checker).map((node) => {
        const start = node.getStart(source);
        const line = source.text.slice(0, start).split('\n').length;
        return { path, line, code: node.getText(source).replaceAll(/\s+/g, ' ') };
      });
    });
  } finally {
    api.close();
  }
}

function accessesIn(source: SourceFile, checker: Checker): readonly Node[] {
  const keyed: { readonly node: Node; readonly key: Node }[] = [];
  const merged: { readonly node: Node; readonly parts: readonly Node[] }[] = [];
  const visit = (node: Node): void => {
    const key = keyIn(node, source);
    if (key && !isLiteral(key)) keyed.push({ node, key });
    if (node.kind === SyntaxKind.CallExpression) {
      const { expression, arguments: parts } = node as CallExpression;
      if (expression.getText(source) === 'Object.assign') merged.push({ node, parts: parts.slice(1) });
    }
    node.forEachChild(visit);
  };
  source.forEachChild(visit);
  const keyTypes = keyed.length > 0 ? checker.getTypeAtLocation(keyed.map(({ key }) => key)) : [];
  return [
    ...keyed.filter((_, index) => !isBounded(keyTypes[index])).map(({ node }) => node),
    ...merged.filter(({ parts }) => parts.some((part) => isRecord(part, checker))).map(({ node }) => node),
  ];
}

/** The node that is used as a key of an object; `undefined` if there is no lookup. */
function keyIn(node: Node, source: SourceFile): Node | undefined {
  switch (node.kind) {
    case SyntaxKind.ElementAccessExpression:
      return (node as ElementAccessExpression).argumentExpression;
    case SyntaxKind.BinaryExpression: {
      const { left, operatorToken } = node as BinaryExpression;
      // `#field in object` has no key.
      return operatorToken.kind === SyntaxKind.InKeyword && left.kind !== SyntaxKind.PrivateIdentifier
        ? left
        : undefined;
    }
    case SyntaxKind.BindingElement: {
      const { propertyName } = node as BindingElement;
      const isComputed = propertyName?.kind === SyntaxKind.ComputedPropertyName;
      return isComputed ? (propertyName as ComputedPropertyName).expression : undefined;
    }
    case SyntaxKind.CallExpression: {
      const { expression, arguments: parts } = node as CallExpression;
      return /^Reflect\.(get|set|has)$/.test(expression.getText(source)) ? parts[1] : undefined;
    }
    default:
      return undefined;
  }
}

function isLiteral(node: Node): boolean {
  return node.kind === SyntaxKind.StringLiteral || node.kind === SyntaxKind.NumericLiteral;
}

const BOUNDED = TypeFlags.NumberLike | TypeFlags.ESSymbolLike | TypeFlags.StringLiteral;

function isBounded(type: Type | undefined): boolean {
  if (!type) return false;
  if ((type.flags & TypeFlags.Union) !== 0) return (type as UnionType).getTypes().every(isBounded);
  return (type.flags & BOUNDED) !== 0;
}

/** Whether an expression, or the object that it spreads, may have arbitrary keys. */
function isRecord(node: Node, checker: Checker): boolean {
  const type = checker.getTypeAtLocation(node);
  if (!type) return true;
  const [item] = node.kind === SyntaxKind.SpreadElement ? checker.getIndexInfosOfType(type) : [];
  return hasAnyKey(item?.valueType ?? type, checker);
}

function hasAnyKey(type: Type, checker: Checker): boolean {
  if ((type.flags & (TypeFlags.Any | TypeFlags.Unknown)) !== 0) return true;
  if ((type.flags & TypeFlags.Union) !== 0)
    return (type as UnionType).getTypes().some((one) => hasAnyKey(one, checker));
  return checker
    .getIndexInfosOfType(type)
    .some(({ keyType }) => (keyType.flags & TypeFlags.StringLike) !== 0);
}
