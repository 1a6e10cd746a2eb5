import { expect } from 'chai';
import { z } from 'zod';
import { unmatchedKeys } from '#lib/scaled-objects/parameters/unmatched-keys.ts';
import { parameter, text } from '#lib/scaled-objects/triggers/parameters/parameter.ts';

describe('unmatchedKeys', () => {
  const schema = z.object({
    host: parameter(text, { from: ['metadata', 'environment'], aliases: ['address'], description: 'Where.' }),
    password: parameter(text, { from: ['authentication', 'environment'], description: 'A secret.' }),
    query: parameter(text, { from: ['metadata'], description: 'What.' }),
  });
  const keysOf = (...keys: readonly string[]) =>
    unmatchedKeys(schema, Object.fromEntries(keys.map((key) => [key, 'a'])));

  it('knows parameters by all their names, and those of the environment', () => {
    expect(
      keysOf('host', 'address', 'hostFromEnv', 'addressFromEnv', 'passwordFromEnv', 'query'),
    ).to.deep.equal([]);
  });

  it('finds what is misspelled, or does not belong into metadata', () => {
    const unmatched = ['Host', 'queryFromEnv', 'password', '__proto__x', 'constructor'];
    expect(keysOf(...unmatched, 'host')).to.deep.equal(unmatched);
  });
});
