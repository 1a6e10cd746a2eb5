import { expect } from 'chai';
import * as z from 'zod';
import { findWrongField, readAs } from '#lib/kubernetes/objects/find-wrong-field.ts';

const SCHEMA = z.object({ replicas: z.int(), labels: z.record(z.string(), z.string()).optional() });

describe('findWrongField', () => {
  for (const [value, found] of [
    [{ replicas: 2, labels: { a: 'b' } }, undefined],
    [{ replicas: 'secret' }, 'spec.replicas: Invalid input: expected number, received string'],
    [7, 'spec: Invalid input: expected object, received number'],
    [
      { replicas: 2, labels: { ['k'.repeat(64)]: 1 } },
      `spec.labels.${'k'.repeat(63)}: Invalid input: expected string, received number`,
    ],
  ] as const)
    it(`returns ${found?.slice(0, 30)} for ${JSON.stringify(value).slice(0, 40)}`, () => {
      expect(findWrongField(SCHEMA, 'spec', value)).to.equal(found);
    });
});

describe('readAs', () => {
  it('returns what the schema makes of a value', () => {
    expect(readAs(SCHEMA, 'a Scale', { replicas: 2, more: 1 })).to.deep.equal({ replicas: 2 });
  });

  it('throws an error that names the first wrong field', () => {
    expect(() => readAs(SCHEMA, 'a Scale', { replicas: 1.5, labels: 1 })).to.throw(
      'Cannot read a Scale: replicas: Invalid input: expected int, received number',
    );
    expect(() => readAs(SCHEMA, 'a Scale', null)).to.throw(
      'Cannot read a Scale: Invalid input: expected object, received null',
    );
  });
});
