import { Quantity } from '#lib/kubernetes/quantity.ts';
import { readYaml } from '#lib/kubernetes/read-yaml.ts';
import { parseDecimal } from '../sample.ts';
import { findValueAtPath } from './gjson-path.ts';
import { readBoundedJson } from './read-json.ts';

export const VALUE_FORMATS = ['json', 'prometheus', 'xml', 'yaml'] as const;
export type ValueFormat = (typeof VALUE_FORMATS)[number];

const NANOS = 1e9;
/** In characters. The parser takes up to 0.2 s of CPU for so many, and 0.8 s for 64 KiB, most of it for errors. */
const MAX_YAML_LENGTH = 8_192;
const MAX_ALIASES = 100;

/**
 * Reads the number at a location of a response.
 *
 * @throws an Error if there is no value, or it is not a number
 */
export function readLocatedValue(
  body: Buffer,
  { location, format }: { readonly location: string; readonly format: ValueFormat },
): number {
  if (format === 'json') return toNumber(findValueAtPath(readBoundedJson(body), location), location);
  const text = body.toString('utf8');
  if (format === 'prometheus') return readExpositionValue(text, location);
  if (format === 'xml') throw new Error('format xml is not supported; use json, yaml or prometheus');
  if (text.length > MAX_YAML_LENGTH)
    throw new Error(`the response is longer than ${MAX_YAML_LENGTH} characters of YAML`);
  return toNumber(findValueAtPath(parseYaml(text), location), location);
}

/** Drops the message of the parser, which quotes lines that may contain secrets. */
function parseYaml(text: string): unknown {
  try {
    return readYaml(text, { maxAliasCount: MAX_ALIASES });
  } catch {
    throw new Error('the response is not valid YAML');
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
 * Reads the value of the first series in Prometheus text format that matches a selector.
 *
 * @param selector such as `queue_depth{queue="a"}`
 * @throws if no series matches
 */
export function readExpositionValue(text: string, selector: string): number {
  const [name = ''] = NAME.exec(selector) ?? [];
  const expected = parseLabels(selector, name.length, SELECTOR_LABEL);
  let start = 0;
  while (start < text.length) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    if (name !== '' && text.startsWith(name, start)) {
      const value = readSeriesLine(text.slice(start, end), name, expected);
      if (value !== undefined) return value;
    }
    start = end + 1;
  }
  throw new Error(`metric '${selector}' not found`);
}

function readSeriesLine(
  line: string,
  name: string,
  expected: ReadonlyMap<string, string>,
): number | undefined {
  const next = line[name.length];
  if (next !== '{' && next !== ' ' && next !== '\t') return undefined;
  const close = next === '{' ? line.lastIndexOf('}') : name.length;
  if (close === -1) return undefined;
  const labels = next === '{' ? parseLabels(line, name.length, LABEL) : new Map<string, string>();
  for (const [key, value] of expected) if (!isSameValue(labels.get(key), value)) return undefined;
  const [number = ''] = line
    .slice(next === '{' ? close + 1 : close)
    .trim()
    .split(/[ \t]/, 1);
  return parseDecimal(number);
}

/** Leaves escapes in the values. */
function parseLabels(text: string, at: number, label: RegExp): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  if (text[at] !== '{') return labels;
  label.lastIndex = at + 1;
  for (let match = label.exec(text); match; match = label.exec(text))
    labels.set(match[1] ?? '', match[2] ?? '');
  return labels;
}

/** Compares two escaped values without unescaping, which would take over a second for 4 MiB. */
function isSameValue(value: string | undefined, expected: string): boolean {
  if (value === undefined) return false;
  let [at, expectedAt] = [0, 0];
  while (at < value.length && expectedAt < expected.length) {
    const [isEscape, isExpectedEscape] = [isEscapeAt(value, at), isEscapeAt(expected, expectedAt)];
    if (characterAt(value, at, isEscape) !== characterAt(expected, expectedAt, isExpectedEscape))
      return false;
    at += isEscape ? 2 : 1;
    expectedAt += isExpectedEscape ? 2 : 1;
  }
  return at === value.length && expectedAt === expected.length;
}

/** A backslash before any other character is literal. */
function isEscapeAt(text: string, at: number): boolean {
  const next = text[at + 1];
  return text[at] === '\\' && (next === '"' || next === '\\' || next === 'n');
}

function characterAt(text: string, at: number, isEscape: boolean): string | undefined {
  if (!isEscape) return text[at];
  return text[at + 1] === 'n' ? '\n' : text[at + 1];
}
