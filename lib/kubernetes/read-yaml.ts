import { type Document, isAlias, isScalar, LineCounter, parseDocument, visit } from 'yaml';

/** What is wrong with a text that is no YAML, in which line; none of the text itself, which may be a credential. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
}

/** The package calls itself for each level, and takes a second of CPU to run out of stack. */
const MAX_NESTING = 256;

/**
 * Reads one document of YAML in linear time. The package would compare each key of a mapping with all keys before it.
 *
 * @param options `maxAliasCount` is how many values aliases may stand for, none by default; `takesFirst` leaves out the
 *   documents behind the first, which are an error otherwise
 * @throws {YamlError} where it is no YAML, too, for a mapping that names a key twice, and for more than 256 brackets and
 *   braces that are open at once, in quoted text or out of it
 */
export function readYaml(text: string, { maxAliasCount = 0, takesFirst = false } = {}): unknown {
  const tooDeep = lineBeyondNesting(text);
  if (tooDeep !== undefined)
    throw new YamlError(`more than ${MAX_NESTING} levels of nesting in line ${tooDeep}`);
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    logLevel: takesFirst ? 'silent' : 'error',
    uniqueKeys: false, // looked for below
  });
  const [problem] = document.errors;
  const [code, at] = problem ? [problem.code, problem.pos[0]] : ['DUPLICATE_KEY', repeatedKeyAt(document)];
  const refused = (what: string, where: number) =>
    new YamlError(`${what.toLowerCase().replaceAll('_', ' ')} in line ${lineCounter.linePos(where).line}`);
  if (at !== undefined) throw refused(code, at);
  try {
    return document.toJS({ maxAliasCount });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error; // no other one repeats the text
    throw refused('BAD_ALIAS', badAliasAt(document)); // a password that begins with * is one, and the package tells its name
  }
}

/** In which line more brackets and braces are open than may be. */
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

/** Where the first alias stands that has no anchor before it; where all have one, the first of all. */
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

/** Where the first key stands that its mapping has already. */
function repeatedKeyAt(document: Document): number | undefined {
  let at: number | undefined;
  visit(document, {
    Map(_, { items }) {
      const seen = new Set<unknown>();
      for (const { key } of items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) {
          at = key.range?.[0] ?? 0;
          return visit.BREAK;
        }
        seen.add(key.value);
      }
      return undefined;
    },
  });
  return at;
}
