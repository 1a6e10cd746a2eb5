import fc from 'fast-check';
import type { JsonObject, JsonValue } from '#lib/apiserver/encoding/json.ts';

/** Texts with every character that some encoding treats specially. */
export const trickyTexts: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({
    unit: fc.constantFrom(
      ...'ab01.-+_:#&<>"\'\\,[]{}|!?%@`~*=/ \n\t'.split(''),
      'é',
      '\u2028',
      '😀',
      '\u0085',
    ),
    maxLength: 30,
  }),
  fc.constantFrom(
    '',
    'true',
    'no',
    'null',
    '~',
    '1e3',
    '0x1f',
    '012',
    '1_000',
    '2026-01-02',
    '.5',
    '-',
    '---',
    '=',
    '<<',
  ),
  fc.lorem({ maxCount: 30 }),
);

/** Any JSON value of objects, arrays, strings, integers and literals. */
export const jsonValues: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    trickyTexts,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(trickyTexts, tie('value'), { maxKeys: 4 }),
  ),
})).value;

/** Any JSON object. */
export const jsonObjects: fc.Arbitrary<JsonObject> = fc.dictionary(trickyTexts, jsonValues, { maxKeys: 5 });
