import { expect } from 'chai';
import fc from 'fast-check';
import { goJson } from '#lib/apiserver/encoding/json.ts';
import { jsonValues } from '#spec/support/json-values.ts';

describe('goJson', () => {
  it('escapes what could end a script or a line of one', () => {
    expect(goJson({ a: '<b> & "c"\u2028\u2029' })).to.equal(
      '{"a":"\\u003cb\\u003e \\u0026 \\"c\\"\\u2028\\u2029"}',
    );
  });

  it('indents by the given width, and does not break empty objects and arrays', () => {
    expect(goJson({ a: [1, {}], b: [] }, 2)).to.equal('{\n  "a": [\n    1,\n    {}\n  ],\n  "b": []\n}');
  });

  it('writes what reads as the same value, indented or not', () => {
    fc.assert(
      fc.property(jsonValues, fc.constantFrom(0, 2), (value, indentation) => {
        const text = goJson(value, indentation);
        expect(text).not.to.match(/[<>&]/);
        expect(JSON.parse(text)).to.deep.equal(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
