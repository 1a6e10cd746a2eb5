import { Quantity } from '#lib/kubernetes/quantity.ts';
import { readYaml } from '#lib/kubernetes/read-yaml.ts';
import { readBoundedJson } from '../read-json.ts';
import { parseDecimal } from '../sample.ts';
import { findValueAtPath } from './gjson-path.ts';

/** What a response may be. */
export const VALUE_FORMATS = ['json', 'prometheus', 'xml', 'yaml'] as const;
export type ValueFormat = (typeof VALUE_FORMATS)[number];

const NANOS = 1e9;
/** A longer document of YAML would hold up everything else. */
const MAX_YAML_LENGTH = 65_536;
/** Deeper aliases of YAML than this are an attack. */
const MAX_ALIASES = 100;

/**
 * The number at a place in a response.
 *
 * @throws an Error that says that there is none, or no number
 */
export function readLocatedValue(
  body: Buffer,
  { location, format }: { readonly location: string; readonly format: ValueFormat },
): number {
  if (format === 'json') return toNumber(findValueAtPath(readBoundedJson(body), location), location);
  const text = body.toString('utf8');
  if (format === 'prometheus') return readExpositionValue(text, location);
  if (format === 'xml') throw new Error('format xml is not supported: ask for json, yaml or prometheus');
  if (text.length > MAX_YAML_LENGTH)
    throw new Error(`the response is longer than ${MAX_YAML_LENGTH} characters of YAML`);
  return toNumber(findValueAtPath(parseYaml(text), location), location);
}

/** What the parser says shows lines, and these may repeat what nobody must be told. */
function parseYaml(text: string): unknown {
  try {
    return readYaml(text, { maxAliasCount: MAX_ALIASES });
  } catch {
    throw new Error('the response is no YAML');
  }
}

function toNumber(value: unknown, location: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'string') {
    const quantity = Quantity.parse(value);
    if (quantity) return Number(quantity.nanos) / NANOS;
    throw new Error(`valueLocation "${location}" points to a string that is not parseable as a Quantity`);
  }
  if (value === undefined) throw new Error(`value ${location} not found`);
  throw new Error(
    `valueLocation "${location}" must point to a numeric value or a string parseable as a Quantity, got ${typeName(value)}`,
  );
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

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
  const wanted = parseLabels(selector, name.length, SELECTOR_LABEL);
  let start = 0;
  while (start < text.length) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    if (name !== '' && text.startsWith(name, start)) {
      const value = readSeriesLine(text.slice(start, end), name, wanted);
      if (value !== undefined) return value;
    }
    start = end + 1;
  }
  throw new Error(`metric '${selector}' not found`);
}

function readSeriesLine(line: string, name: string, wanted: ReadonlyMap<string, string>): number | undefined {
  const next = line[name.length];
  if (next !== '{' && next !== ' ' && next !== '\t') return undefined;
  const close = next === '{' ? line.lastIndexOf('}') : name.length;
  if (close === -1) return undefined;
  const labels = next === '{' ? parseLabels(line, name.length, LABEL) : new Map<string, string>();
  for (const [key, value] of wanted) if (!isSameValue(labels.get(key), value)) return undefined;
  const [number = ''] = line
    .slice(next === '{' ? close + 1 : close)
    .trim()
    .split(/[ \t]/, 1);
  return parseDecimal(number);
}

/** The values are as they are written, with their escapes. */
function parseLabels(text: string, at: number, label: RegExp): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  if (text[at] !== '{') return labels;
  label.lastIndex = at + 1;
  for (let match = label.exec(text); match; match = label.exec(text))
    labels.set(match[1] ?? '', match[2] ?? '');
  return labels;
}

/** Whether two values are the same behind their escapes: to write out 4 MiB of escapes would take over a second. */
function isSameValue(value: string | undefined, wanted: string): boolean {
  if (value === undefined) return false;
  let [at, wantedAt] = [0, 0];
  while (at < value.length && wantedAt < wanted.length) {
    const [isEscape, isWantedEscape] = [isEscapeAt(value, at), isEscapeAt(wanted, wantedAt)];
    if (characterAt(value, at, isEscape) !== characterAt(wanted, wantedAt, isWantedEscape)) return false;
    at += isEscape ? 2 : 1;
    wantedAt += isWantedEscape ? 2 : 1;
  }
  return at === value.length && wantedAt === wanted.length;
}

/** A backslash before any other character is one. */
function isEscapeAt(text: string, at: number): boolean {
  const next = text[at + 1];
  return text[at] === '\\' && (next === '"' || next === '\\' || next === 'n');
}

function characterAt(text: string, at: number, isEscape: boolean): string | undefined {
  if (!isEscape) return text[at];
  return text[at + 1] === 'n' ? '\n' : text[at + 1];
}
