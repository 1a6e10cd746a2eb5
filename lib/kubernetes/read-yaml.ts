import { type Document, isAlias, isScalar, LineCounter, parseAllDocuments, parseDocument, visit } from 'yaml';

/** Why a text is not YAML, and in which line; never the text itself, which may be a credential. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
}

/** The package recurses for each level, and takes a second of CPU time to exhaust the stack. */
const MAX_NESTING = 256;

/**
 * Parses one YAML document in linear time. The package would compare each key of a mapping with all keys before it.
 *
 * @param options `maxAliasCount` is the maximum number of alias expansions, 0 by default; `takesFirst` ignores the
 * documents after the first, which are an error otherwise
 * @throws {YamlError} for invalid YAML, also for a mapping with duplicate keys, and for more than 256 nested brackets
 * and braces, in quoted text or out of it
 */
export function readYaml(text: string, { maxAliasCount = 0, takesFirst = false } = {}): unknown {
  refuseDeepNesting(text);
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    ...PARSE_OPTIONS,
    lineCounter,
    logLevel: takesFirst ? 'silent' : 'error',
  });
  return toValue(document, lineCounter, maxAliasCount);
}

/** A document of a text of several. */
export interface YamlDocument {
  /** The line in which it begins, counted from 1. */
  readonly line: number;
  /** @throws {YamlError} if this document is invalid */
  read(): unknown;
}

/**
 * Parses all YAML documents of a text in linear time. An invalid document does not affect the others.
 *
 * @param options `maxAliasCount` is the maximum number of alias expansions of a document, 0 by default
 * @throws {YamlError} for more than 256 nested brackets and braces
 */
export function readYamlDocuments(text: string, { maxAliasCount = 0 } = {}): readonly YamlDocument[] {
  refuseDeepNesting(text);
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, { ...PARSE_OPTIONS, lineCounter });
  if (!Array.isArray(documents)) return [];
  return documents.map((document) => ({
    line: lineCounter.linePos(document.contents?.range?.[0] ?? document.range[0]).line,
    read: () => toValue(document, lineCounter, maxAliasCount),
  }));
}

const PARSE_OPTIONS = { prettyErrors: false, uniqueKeys: false } as const; // duplicate keys: see toValue

function refuseDeepNesting(text: string): void {
  const tooDeep = lineBeyondNesting(text);
  if (tooDeep !== undefined)
    throw new YamlError(`more than ${MAX_NESTING} levels of nesting in line ${tooDeep}`);
}

/** @throws {YamlError} */
function toValue(document: Document, lineCounter: LineCounter, maxAliasCount: number): unknown {
  const [problem] = document.errors;
  const [code, at] = problem ? [problem.code, problem.pos[0]] : ['DUPLICATE_KEY', repeatedKeyAt(document)];
  const refused = (what: string, where: number) =>
    new YamlError(`${what.toLowerCase().replaceAll('_', ' ')} in line ${lineCounter.linePos(where).line}`);
  if (at !== undefined) throw refused(code, at);
  try {
    return document.toJS({ maxAliasCount });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error; // no other message quotes the text
    throw refused('BAD_ALIAS', badAliasAt(document)); // a password that begins with * is one, and the package quotes its name
  }
}

/** The line in which more brackets and braces are open than allowed. */
function lineBeyondNesting(text: string): number | undefined {
  let [depth, line] = [0, 1];
  for (const character of text) {
    if (character === '\n') line++;
    else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth = Math.max(0, depth - 1);
    if (depth > MAX_NESTING) return line;
  }
  return undefined;
}

/** Position of the first alias without a preceding anchor; if all have one, of the first alias. */
function badAliasAt(document: Document): number {
  const anchors = new Set<string>();
  let first: number | undefined;
  let unresolved: number | undefined;
  visit(document, {
    Node(_, node) {
      if (!isAlias(node)) {
        if (node.anchor !== undefined) anchors.add(node.anchor);
        return undefined;
      }
      first ??= node.range?.[0];
      if (anchors.has(node.source)) return undefined;
      unresolved = node.range?.[0];
      return visit.BREAK;
    },
  });
  return unresolved ?? first ?? 0;
}

/** Position of the first duplicate key. */
function repeatedKeyAt(document: Document): number | undefined {
  let at: number | undefined;
  visit(document, {
    Map(_, { items }) {
      const visited = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (visited.has(key.value)) {
          at = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        visited.add(key.value);
      }
      return undefined;
    },
  });
  return at;
}
