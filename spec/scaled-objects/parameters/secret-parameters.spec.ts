import { expect } from 'chai';
import { z } from 'zod';
import { secretParameters } from '#lib/scaled-objects/parameters/secret-parameters.ts';
import { parameter, text } from '#lib/scaled-objects/triggers/parameters/parameter.ts';

const SCHEMA = z.object({
  query: parameter(text, { from: ['metadata', 'authentication'], description: 'What is asked.' }),
  host: parameter(text, {
    ...{ from: ['metadata', 'authentication', 'environment'], isSecret: true },
    description: 'Where.',
  }),
  password: parameter(text, {
    ...{ from: ['authentication', 'environment'], aliases: ['pass'] },
    description: 'The password.',
  }),
});

describe('secretParameters', () => {
  it('names what nobody must be told, by all of its names, and of URLs the password as it is written and meant', () => {
    const sources = {
      metadata: { query: 'asked', host: 'https://a:open@h', passFromEnv: 'PASS', hostFromEnv: 'HOST' },
      authentication: { query: 'told', password: 'hidden', host: 'amqp://a:p%2Fw@h' },
      environment: { PASS: 'env-hidden', HOST: 'amqp://b:%zz@h', OTHER: 'other' },
    };
    expect(secretParameters(SCHEMA, sources as never)).to.have.members([
      ...['amqp://a:p%2Fw@h', 'p%2Fw', 'p/w', 'amqp://b:%zz@h', '%zz', '%zz', 'hidden', 'env-hidden'],
    ]);
  });
});
