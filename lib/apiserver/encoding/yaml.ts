import { type ScalarTag, stringify, type Tags } from 'yaml';
import type { JsonValue } from './json.ts';

/**
 * Encodes YAML that the API server's clients decode to the same value: keys are sorted, sequences are not indented, and
 * strings that go-yaml or YAML 1.1 would decode as another type are quoted. Folds, quotes and the order of keys with
 * digits may differ from go-yaml's.
 *
 * Import this file on demand: the package takes memory, and few clients request YAML.
 */
export function writeYaml(value: JsonValue): string {
  return stringify(value, {
    version: '1.1',
    aliasDuplicateObjects: false,
    sortMapEntries: true,
    indentSeq: false,
    customTags,
  });
}

/** Those of the version without merge keys, as which `<<` would be unquoted, and with our own strings. */
function customTags(tags: Tags): Tags {
  return tags
    .filter((tag) => tag !== 'merge' && (typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:merge'))
    .map((tag) => (isStringTag(tag) ? { ...tag, stringify: stringifyOf(tag) } : tag));
}

function isStringTag(tag: Tags[number]): tag is ScalarTag {
  return typeof tag === 'object' && tag.tag === 'tag:yaml.org,2002:str';
}

/** As the package does, but quotes strings that other parsers decode differently. */
function stringifyOf({ stringify: usual }: ScalarTag): NonNullable<ScalarTag['stringify']> {
  return (item, ...rest) => {
    const text = String(item.value);
    return isMisread(text) ? escaped(text) : (usual?.(item, ...rest) ?? escaped(text));
  };
}

/** Numbers of go-yaml, which ignores underscores in them. */
const NUMBER = /^[-+]?(?:0[bBoOxX]|\.?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?$)/;
/** Breaks lines in YAML 1.1, or must be escaped in a document. */
const UNPRINTABLE = /[^\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/gu;

function isMisread(text: string): boolean {
  return (
    NUMBER.test(text.replaceAll('_', '')) ||
    /^(?:---|\.\.\.|<<$|=$)/.test(text) ||
    text.search(UNPRINTABLE) >= 0
  );
}

function escaped(text: string): string {
  return JSON.stringify(text).replaceAll(
    UNPRINTABLE, // none of these is beyond U+FFFF
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
