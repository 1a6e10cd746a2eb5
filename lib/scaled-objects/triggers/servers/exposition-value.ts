import { decimalNumber } from '#lib/sources/decimal-number.ts';

const LABEL = /\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*,?/y;
const SELECTOR_LABEL = /\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*(?:=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"\s*,?/y;
const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/;

/**
 * The value of the first series of an exposition in Prometheus' text format that has a name and labels.
 *
 * @param selector as in `queue_depth{queue="a"}`
 * @throws where there is none
 */
export function readExpositionValue(text: string, selector: string): number {
  const [name = ''] = NAME.exec(selector) ?? [];
  const wanted = labelsOf(selector, name.length, SELECTOR_LABEL);
  let start = 0;
  while (start < text.length) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    if (name !== '' && text.startsWith(name, start)) {
      const value = valueOfLine(text.slice(start, end), name, wanted);
      if (value !== undefined) return value;
    }
    start = end + 1;
  }
  throw new Error(`metric '${selector}' not found`);
}

function valueOfLine(line: string, name: string, wanted: ReadonlyMap<string, string>): number | undefined {
  const next = line[name.length];
  if (next !== '{' && next !== ' ' && next !== '\t') return undefined;
  const close = next === '{' ? line.lastIndexOf('}') : name.length;
  if (close === -1) return undefined;
  const labels = next === '{' ? labelsOf(line, name.length, LABEL) : new Map<string, string>();
  for (const [key, value] of wanted) if (labels.get(key) !== value) return undefined;
  const [number = ''] = line
    .slice(next === '{' ? close + 1 : close)
    .trim()
    .split(/[ \t]/, 1);
  return decimalNumber(number);
}

function labelsOf(text: string, at: number, label: RegExp): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  if (text[at] !== '{') return labels;
  label.lastIndex = at + 1;
  for (let match = label.exec(text); match; match = label.exec(text)) {
    labels.set(
      match[1] ?? '',
      (match[2] ?? '').replace(/\\(["\\n])/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped)),
    );
  }
  return labels;
}
