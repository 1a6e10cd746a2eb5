/** One sample of Prometheus' text exposition. */
export interface ExpositionSample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  /** May be NaN or infinite. */
  readonly value: number;
  /** Milliseconds since the epoch, where the line tells them. */
  readonly timestampMs: number | undefined;
}

const NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/y;
const LABEL = /\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(,|(?=\}))/y;
const REST = /^\s+(\S+)(?:\s+(-?\d+))?\s*$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

const SPECIAL_VALUES: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Inf: Number.POSITIVE_INFINITY,
  '+Inf': Number.POSITIVE_INFINITY,
  '-Inf': Number.NEGATIVE_INFINITY,
};

/**
 * Reads one line of the text format, version 0.0.4: any order of labels, escapes, exponents, NaN, ±Inf, with or
 * without a timestamp.
 *
 * @returns `undefined` when the line is no sample
 */
export function parseSample(line: string): ExpositionSample | undefined {
  NAME.lastIndex = 0;
  const name = NAME.exec(line)?.[0];
  if (name === undefined) return undefined;
  let position = name.length;
  const labels = new Map<string, string>();
  if (line[position] === '{') {
    const end = readLabels(line, position + 1, labels);
    if (end === undefined) return undefined;
    position = end;
  }
  const [, valueText, timestampText] = REST.exec(line.slice(position)) ?? [];
  const value = valueText === undefined ? undefined : parseValue(valueText);
  if (value === undefined) return undefined;
  return {
    name,
    labels,
    value,
    timestampMs: timestampText === undefined ? undefined : Number(timestampText),
  };
}

/** @returns where the labels end, behind the brace; `undefined` when they don't */
function readLabels(line: string, start: number, labels: Map<string, string>): number | undefined {
  LABEL.lastIndex = start;
  let position = start;
  for (let match = LABEL.exec(line); match; match = LABEL.exec(line)) {
    labels.set(match[1] ?? '', unescapeValue(match[2] ?? ''));
    position = LABEL.lastIndex;
  }
  while (line[position] === ' ') position++;
  return line[position] === '}' ? position + 1 : undefined;
}

function unescapeValue(value: string): string {
  if (!value.includes('\\')) return value;
  return value.replace(/\\(.)/g, (whole, escaped) => {
    if (escaped === 'n') return '\n';
    return escaped === '"' || escaped === '\\' ? escaped : whole;
  });
}

function parseValue(text: string): number | undefined {
  return NUMBER.test(text) ? Number(text) : SPECIAL_VALUES[text];
}
