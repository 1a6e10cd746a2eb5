import { type Document, isScalar, LineCounter, parseDocument, visit } from 'yaml';

/** What is wrong with a text that is no YAML, in which line; none of the text itself, which may be a credential. */
export class YamlError extends Error {
  override readonly name = 'YamlError';
}

/**
 * Reads one document of YAML in linear time. The package would compare each key of a mapping with all keys before it.
 *
 * @param options `maxAliasCount` is how many values aliases may stand for, none by default; `takesFirst` leaves out the
 *   documents behind the first, which are an error otherwise
 * @throws {YamlError} where it is no YAML, too, for a mapping that names a key twice
 */
export function readYaml(text: string, { maxAliasCount = 0, takesFirst = false } = {}): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    logLevel: takesFirst ? 'silent' : 'error',
    uniqueKeys: false, // looked for below
  });
  const [problem] = document.errors;
  const [code, at] = problem ? [problem.code, problem.pos[0]] : ['DUPLICATE_KEY', repeatedKeyAt(document)];
  if (at === undefined) return document.toJS({ maxAliasCount });
  const { line } = lineCounter.linePos(at);
  throw new YamlError(`${code.toLowerCase().replaceAll('_', ' ')} in line ${line}`);
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
