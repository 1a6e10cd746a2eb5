import { expect } from 'chai';
import type { Schema } from '#simulator/resources/schema.ts';
import { validate } from '#simulator/resources/validate.ts';

const unique = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['name'],
} as const;

describe('validate', () => {
  for (const [schema, value, message] of [
    [{ type: 'object', required: ['a'] }, {}, 'f.a: Required value'],
    [{ type: 'integer' }, 'x', 'f: Invalid value: "string": f in body must be of type integer: "string"'],
    [
      { type: 'integer', minimum: 0 },
      -1,
      'f: Invalid value: -1: f in body should be greater than or equal to 0',
    ],
    [{ type: 'integer', minimum: 0 }, 0, undefined],
    [
      { type: 'integer', maximum: 10 },
      11,
      'f: Invalid value: 11: f in body should be less than or equal to 10',
    ],
    [{ type: 'integer', maximum: 10 }, 10, undefined],
    [{ type: 'string', maxLength: 2 }, 'abc', 'f: Too long: may not be more than 2 bytes'],
    [
      { type: 'array', maxItems: 3, items: { type: 'integer' } },
      [1, 2, 3, 4],
      'f: Too many: 4: must have at most 3 items',
    ],
    [{ type: 'array', maxItems: 3, items: { type: 'integer' } }, [1, 2, 3], undefined],
    [unique, [{ name: 'a' }, { name: 'a' }], 'f[1]: Duplicate value: {"name":"a"}'],
    [
      { type: 'string', enum: ['red', 'blue'] },
      'green',
      'f: Unsupported value: "green": supported values: "red", "blue"',
    ],
    [{ type: 'string', nullable: true }, null, undefined],
    [{ 'x-kubernetes-int-or-string': true }, 1, undefined],
    [{ 'x-kubernetes-int-or-string': true }, '10%', undefined],
    [
      { 'x-kubernetes-int-or-string': true },
      true,
      'f: Invalid value: "boolean": f in body must be of type integer,string: "boolean"',
    ],
  ] satisfies readonly (readonly [Schema, unknown, string | undefined])[]) {
    it(`${message === undefined ? 'accepts' : 'refuses'} ${JSON.stringify(value)} by ${JSON.stringify(schema)}`, () => {
      const errors = validate(value, schema, 'f').map(({ field, message }) => `${field}: ${message}`);
      expect(errors).to.deep.equal(message === undefined ? [] : [message]);
    });
  }
});
