import { getOwn } from '#lib/kubernetes/get-own.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { compareYamlKeys } from './yaml-key-order.ts';
import { writeYamlString } from './yaml-string.ts';

/**
 * Writes YAML as Kubernetes' API server does (sigs.k8s.io/yaml, that is go-yaml 2), byte for byte: keys in
 * go-yaml's order, sequences no deeper than their key, long text folded behind column 80.
 *
 * Not by the package yaml, in which neither can be set: two recorded bodies, of long messages, would be folded a word
 * sooner, and keys with digits sorted by their characters; it takes 0.15 ms for a pod, this 0.04.
 */
export function goYaml(value: JsonObject): string {
  const lines = Object.keys(value).length === 0 ? '{}' : mappingLines(value, 0);
  return `${lines}\n`;
}

/** One item of a sequence that is a field of a whole document, as {@link goYaml} writes it. */
export function goYamlItem(item: JsonValue): string {
  return `${sequenceLines([item], 0)}\n`;
}

/** A mapping's lines; the first is not indented, for it may stand behind a dash. */
function mappingLines(value: JsonObject, indentation: number): string {
  return Object.keys(value)
    .sort(compareYamlKeys)
    .map((key) => entry(key, getOwn(value, key) ?? null, indentation))
    .join(`\n${' '.repeat(indentation)}`);
}

function entry(key: string, value: JsonValue, indentation: number): string {
  const name = `${writeYamlString(key, { column: indentation, indentation, isKey: true })}:`;
  if (isSequence(value) && value.length > 0) {
    return `${name}\n${' '.repeat(indentation)}${sequenceLines(value, indentation)}`;
  }
  if (isMapping(value) && Object.keys(value).length > 0) {
    const deeper = indentation + 2;
    return `${name}\n${' '.repeat(deeper)}${mappingLines(value, deeper)}`;
  }
  return `${name} ${scalar(value, indentation + name.length + 1, indentation)}`;
}

function sequenceLines(items: readonly JsonValue[], indentation: number): string {
  return items.map((item) => `- ${itemLines(item, indentation)}`).join(`\n${' '.repeat(indentation)}`);
}

function itemLines(item: JsonValue, indentation: number): string {
  const deeper = indentation + 2;
  if (isSequence(item) && item.length > 0) return sequenceLines(item, deeper);
  if (isMapping(item) && Object.keys(item).length > 0) return mappingLines(item, deeper);
  return scalar(item, deeper, indentation);
}

/**
 * @param column where the scalar begins
 * @param indentation that of the mapping or sequence that holds it
 */
function scalar(value: JsonValue, column: number, indentation: number): string {
  if (typeof value === 'string') return writeYamlString(value, { column, indentation, isKey: false });
  if (isSequence(value)) return '[]';
  if (isMapping(value)) return '{}';
  return String(value);
}

function isSequence(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function isMapping(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !isSequence(value);
}
