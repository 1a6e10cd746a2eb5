import { expect } from 'chai';
import { z } from 'zod';
import { factsOf, parameter, text } from '#lib/scaled-objects/triggers/parameters/parameter.ts';
import {
  parametersOf,
  secretParameters,
  unmatchedKeys,
} from '#lib/scaled-objects/triggers/parameters/read-parameters.ts';
import type { Trigger } from '#lib/scaled-objects/triggers/trigger.ts';
import { everyTrigger } from '#spec/support/every-trigger.ts';
import { TRIGGER_PARAMETERS } from '#spec/support/trigger-parameters.ts';

/** Valid values of each kind, in two forms, and invalid ones. */
const VALUES: Readonly<
  Record<string, { readonly good: readonly string[]; readonly bad: readonly string[] }>
> = {
  text: { good: ['a', 'b'], bad: ['x'.repeat(65_537)] },
  number: { good: ['1.5', ' -2e3 '], bad: ['a', '1e', '0x1', 'NaN', 'Infinity', '1,5', '1 2'] },
  integer: { good: ['7', ' +8 '], bad: ['1.5', '1e3', '9007199254740993', '٣', 'seven'] },
  boolean: { good: ['true', 'F'], bad: ['yes', '2', 'maybe'] },
  duration: { good: ['30s', '1500'], bad: ['-1s', 'soon', '1.5', '5 s'] },
  pairs: { good: ['a=b', 'a=b,c=d=e'], bad: ['a', '=b', 'a=b,c'] },
};
const WORDS: Readonly<Record<string, readonly string[]>> = {
  format: ['json', 'prometheus', 'xml', 'yaml'],
  method: ['header', 'query'],
  aggregationType: ['average', 'sum', 'max', 'min'],
  identityOwner: ['pod', 'operator'],
  influxVersion: ['2', '3'],
  mode: [
    ...['QueueLength', 'MessageRate', 'DeliverGetRate'],
    ...['PublishedToDeliveredRatio', 'ExpectedQueueConsumptionTime'],
  ],
  operation: ['sum', 'avg', 'max'],
  protocol: ['auto', 'amqp', 'http'],
  tls: ['enable', 'disable'],
};
const PLACES = { M: 'metadata', A: 'authentication', E: 'environment' } as const;
const REPORTED = { M: 'triggerMetadata', A: 'authParams', E: 'resolvedEnv' } as const;
type Letter = keyof typeof PLACES;

interface Sources {
  metadata: Record<string, string>;
  authentication: Record<string, string>;
  environment: Record<string, string>;
}

const triggers = everyTrigger();

describe('parametersOf, of every trigger', () => {
  it('has the types of the table, and no others', () => {
    expect(triggers.map(({ types }) => types.join(', '))).to.deep.equal(Object.keys(TRIGGER_PARAMETERS));
  });

  for (const trigger of triggers) {
    const rows = TRIGGER_PARAMETERS[trigger.types.join(', ')] ?? [];
    const read = (sources: Sources) => parametersOf(trigger.parameters, sources) as Record<string, unknown>;

    describe(trigger.types.join(', '), () => {
      it('takes the parameters of the table, and no others', () => {
        const names = Object.entries(trigger.parameters.shape).map(([name, type]) =>
          [name, ...factsOf(type).aliases].join('|'),
        );
        expect(names).to.deep.equal(rows.map((row) => row.split(' ')[0]));
      });

      for (const row of rows) {
        const [names = '', places = '', kind = '', fallback = ''] = row.split(' ');
        const [name = '', ...aliases] = names.split('|');
        const letters = [...places] as Letter[];
        const { good, bad } =
          kind === 'word'
            ? { good: WORDS[name] ?? [], bad: ['other', ''.padEnd(3, '-')] }
            : (VALUES[kind] ?? none());
        const [first = '', second = ''] = good;
        const expected = parametersIn(trigger, name);

        it(`reads ${name} from its sources in order, under each of its names`, () => {
          for (const key of [name, ...aliases]) {
            for (const [index, letter] of letters.entries()) {
              const sources = others(name, rows);
              put(sources, letter, key, first);
              for (const later of letters.slice(index + 1)) put(sources, later, key, second);
              for (const earlier of letters.slice(0, index)) put(sources, earlier, key, '  ');
              expect(read(sources)[name], `${key} in ${letter}`).to.deep.equal(expected(first));
            }
          }
          for (const letter of (['M', 'A', 'E'] as const).filter((one) => !letters.includes(one))) {
            const sources = others(name, rows);
            put(sources, letter, name, first);
            if (fallback === 'needed')
              expect(() => read(sources)).to.throw(`missing required parameter "${name}"`);
            else
              expect(read(sources)[name], letter).to.deep.equal(
                fallback === '-' ? undefined : expected(fallback),
              );
          }
        });

        it(`reports the reason for ${name}, without a secret value`, () => {
          for (const letter of letters) {
            for (const value of bad) {
              const sources = others(name, rows);
              put(sources, letter, name, value);
              const shown = letter === 'M' ? value.slice(0, 100) : '…';
              const rule = kind === 'word' ? `must be one of [${good.join(' ')}]` : '';
              const text =
                kind === 'word'
                  ? `parameter "${name}" value "${shown}" `
                  : `unable to set param "${name}" value "${shown}": `;
              expect(() => read(sources), `${value.slice(0, 20)} in ${letter}`).to.throw(text + rule);
            }
          }
          if (fallback !== 'needed') return;
          const places = letters.map((letter) => REPORTED[letter]).join(' ');
          expect(() => read(others(name, rows))).to.throw(
            `missing required parameter "${name}" in [${places}]`,
          );
        });
      }
    });
  }
});

/** Reads a text as a parameter of a trigger. */
function parametersIn(trigger: Trigger, name: string): (text: string) => unknown {
  const type = trigger.parameters.shape[name];
  return (text) => type?.parse(text);
}

/** All required parameters except one. */
function others(name: string, rows: readonly string[]): Sources {
  const sources: Sources = { metadata: {}, authentication: {}, environment: {} };
  for (const row of rows) {
    const [names = '', places = '', kind = '', fallback] = row.split(' ');
    const key = names.split('|')[0] ?? '';
    if (fallback !== 'needed' || key === name) continue;
    put(sources, places[0] as Letter, key, (kind === 'word' ? WORDS[key] : VALUES[kind]?.good)?.[0] ?? '');
  }
  return sources;
}

function put(sources: Sources, letter: Letter, key: string, value: string): void {
  if (letter === 'E') {
    sources.metadata[`${key}FromEnv`] = `VARIABLE_${key}`;
    sources.environment[`VARIABLE_${key}`] = value;
  } else sources[PLACES[letter]][key] = value;
}

function none(): never {
  throw new Error('the table has a kind that there is not');
}

const SCHEMA = z.object({
  query: parameter(text, 'What is asked.', { from: ['metadata', 'authentication'] }),
  host: parameter(text, 'Where.', { from: ['metadata', 'authentication', 'environment'], isSecret: true }),
  password: parameter(text, 'The password.', { from: ['authentication', 'environment'], aliases: ['pass'] }),
});

describe('secretParameters', () => {
  it('returns secret values under all names, and passwords of URLs, encoded and decoded', () => {
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

describe('unmatchedKeys', () => {
  const schema = z.object({
    host: parameter(text, 'Where.', { from: ['metadata', 'environment'], aliases: ['address'] }),
    password: parameter(text, 'A secret.', { from: ['authentication', 'environment'] }),
    query: parameter(text, 'What.'),
  });
  const keysOf = (...keys: readonly string[]) =>
    unmatchedKeys(schema, Object.fromEntries(keys.map((key) => [key, 'a'])));

  it('accepts parameters by all their names, and those of the environment', () => {
    expect(
      keysOf('host', 'address', 'hostFromEnv', 'addressFromEnv', 'passwordFromEnv', 'query'),
    ).to.deep.equal([]);
  });

  it('finds parameters that are misspelled or do not belong into metadata', () => {
    const unmatched = ['Host', 'queryFromEnv', 'password', '__proto__x', 'constructor'];
    expect(keysOf(...unmatched, 'host')).to.deep.equal(unmatched);
  });
});
