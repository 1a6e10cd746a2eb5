import { Quantity } from '#lib/kubernetes/quantity.ts';
import { readYaml } from '#lib/kubernetes/read-yaml.ts';
import { readBoundedJson } from '#lib/sources/json/read-bounded-json.ts';
import { readExpositionValue } from './exposition-value.ts';
import { valueAtPath } from './value-path.ts';

/** What a response may be. */
export const VALUE_FORMATS = ['json', 'prometheus', 'xml', 'yaml'] as const;
export type ValueFormat = (typeof VALUE_FORMATS)[number];

const NANOS = 1e9;
/** A longer document of YAML would hold up everything else. */
const LONGEST_YAML = 65_536;
/** Deeper aliases of YAML than this are an attack. */
const MOST_ALIASES = 100;

/**
 * The number at a place in a response.
 *
 * @throws an Error that says that there is none, or no number
 */
export function readLocatedValue(
  body: Buffer,
  { location, format }: { readonly location: string; readonly format: ValueFormat },
): number {
  if (format === 'json') return numberOf(valueAtPath(readBoundedJson(body), location), location);
  const text = body.toString('utf8');
  if (format === 'prometheus') return readExpositionValue(text, location);
  if (format === 'xml') throw new Error('format xml is not supported: ask for json, yaml or prometheus');
  if (text.length > LONGEST_YAML)
    throw new Error(`the response is longer than ${LONGEST_YAML} characters of YAML`);
  return numberOf(valueAtPath(yamlIn(text), location), location);
}

/** What the parser says shows lines, and these may repeat what nobody must be told. */
function yamlIn(text: string): unknown {
  try {
    return readYaml(text, { maxAliasCount: MOST_ALIASES });
  } catch {
    throw new Error('the response is no YAML');
  }
}

function numberOf(value: unknown, location: string): number {
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
