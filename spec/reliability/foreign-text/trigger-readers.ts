import { z } from 'zod';
import { compileFormula } from '#lib/scaled-objects/preparation/formula.ts';
import {
  parseMysqlConnection,
  parsePostgresConnection,
} from '#lib/scaled-objects/triggers/parameters/connection-text.ts';
import { float, keyValues, parameter } from '#lib/scaled-objects/triggers/parameters/parameter.ts';
import { parametersOf } from '#lib/scaled-objects/triggers/parameters/read-parameters.ts';
import {
  decodeIsActive,
  decodeMetricSpecs,
  decodeMetricValues,
} from '#lib/sources/external-scaler/messages.ts';
import { readLastRow } from '#lib/sources/http-apis/influxdb3-server.ts';
import { readJetstream, readServer } from '#lib/sources/http-apis/jetstream-consumer.ts';
import { readPrometheusValue } from '#lib/sources/http-apis/read-prometheus-response.ts';
import { findValueAtPath } from '#lib/sources/json/gjson-path.ts';
import { readExpositionValue, readLocatedValue } from '#lib/sources/json/read-value.ts';
import { AmqpDecoder } from '#lib/sources/rabbitmq/amqp-connection.ts';
import { readQueueFigures } from '#lib/sources/rabbitmq/management-api.ts';
import { RespDecoder } from '#lib/sources/redis/redis-client.ts';
import { distinct, type ForeignReader, nested, repeated } from './foreign-reader.ts';

const MEBIBYTE = 1024 * 1024;
const RESPONSE = { length: 4 * MEBIBYTE, by: 'MAX_BYTES' };
const OBJECT = { length: MEBIBYTE, by: 'etcd' };

const PARAMETERS = z.object({
  number: parameter(float.optional(), ''),
  pairs: parameter(keyValues.optional(), ''),
});

/** Readers of ScaledObjects' triggers and of their sources' responses. */
export const TRIGGER_READERS: readonly ForeignReader[] = [
  {
    name: 'a value of Prometheus for a trigger',
    files: ['read-prometheus-response.ts'],
    bound: RESPONSE,
    shapes: {
      series: repeated('{"value":[1,"2"]},', { before: '{"data":{"result":[', behind: '{}]}}' }),
      nesting: nested('[', ']'),
    },
    read: (text) => attempt(() => readPrometheusValue(Buffer.from(text), { query: 'a', isEmptyZero: true })),
  },
  {
    name: 'an exposition for a trigger',
    files: ['read-value.ts'],
    bound: RESPONSE,
    shapes: {
      lines: repeated('a{b="d"} 1\n'),
      labels: distinct((index) => `l${index}="x",`, { before: 'a{', behind: '} 1' }),
      escapes: repeated('\\"', { before: 'a{b="', behind: '"} 1' }),
      'no end': repeated('\\', { before: 'a{b="' }),
      spaces: repeated(' ', { before: 'a{', behind: '} 1' }),
      braces: repeated('{', { before: 'a' }),
    },
    read: (text) => attempt(() => readExpositionValue(text, 'a{b="c"}')),
  },
  {
    name: 'the selector of a trigger',
    files: [],
    bound: OBJECT,
    shapes: {
      labels: repeated('b="c",', { before: 'a{', behind: '}' }),
      spaces: repeated(' ', { before: 'a{' }),
    },
    read: (text) => attempt(() => readExpositionValue('a{b="c"} 1\n', text)),
  },
  {
    name: 'YAML for a trigger',
    files: ['read-value.ts'],
    bound: { length: 8_192, by: 'MAX_YAML_LENGTH' },
    shapes: {
      keys: distinct((index) => `k${index}: 1\n`),
      items: repeated('- 1\n'),
      digits: repeated('9'),
    },
    read: (text) => attempt(() => readLocatedValue(Buffer.from(text), { location: 'a', format: 'yaml' })),
  },
  {
    name: 'the path to a value',
    files: [],
    bound: OBJECT,
    shapes: {
      steps: repeated('a.'),
      escapes: repeated('\\.'),
      parentheses: repeated('#(a==1)'),
      open: repeated('('),
    },
    read: (text) => attempt(() => findValueAtPath([{ a: 1 }], text)),
  },
  {
    name: 'the path to a value among many',
    files: [],
    bound: { length: 65_536, by: 'MAX_LENGTH' },
    shapes: {
      'a long key': repeated('a', { before: '#(', behind: '==1)' }),
      'a long number': repeated('0', { before: '#(a==', behind: ')' }),
      'a key for each list': repeated('a', { before: '#.#(', behind: '==1)' }),
    },
    read: (text) =>
      attempt(() =>
        findValueAtPath(
          Array.from({ length: text.length / 64 }, () => [{}]),
          text,
        ),
      ),
  },
  {
    name: 'parameters of a trigger',
    files: [],
    bound: OBJECT,
    shapes: {
      digits: repeated('1', { behind: 'x' }),
      pairs: repeated('a=b,', { behind: 'a=b' }),
      spaces: repeated(' ', { behind: 'x' }),
    },
    read: (text) => {
      for (const name of ['number', 'pairs'])
        attempt(() =>
          parametersOf(PARAMETERS, { metadata: { [name]: text }, authentication: {}, environment: {} }),
        );
    },
  },
  {
    name: 'a connection to a database',
    files: ['connection-text.ts'],
    bound: { length: 4096, by: 'MAX_LENGTH' },
    shapes: {
      pairs: repeated('a=b '),
      quotes: repeated("\\'", { before: "a='" }),
      spaces: repeated(' ', { before: 'a', behind: 'x' }),
      parentheses: repeated('tcp('),
      ats: repeated('@', { before: 'a:' }),
    },
    read: (text) => {
      attempt(() => parsePostgresConnection(text));
      attempt(() => parseMysqlConnection(text));
    },
  },
  {
    name: 'a message of an external scaler',
    files: ['messages.ts'],
    bound: { length: MEBIBYTE, by: 'MAX_BYTES' },
    shapes: {
      metrics: repeated('\n\0'),
      names: repeated('a', { before: '\n\u0005\n\u0003' }),
      'unknown fields': repeated('\u0020\u0001'),
      groups: repeated('\u0023'),
      'endless numbers': repeated('\u0080'),
      'what is active': repeated('\u0008\u0001'),
    },
    read: (text) => {
      for (const decode of [decodeIsActive, decodeMetricSpecs, decodeMetricValues])
        attempt(() => decode(Buffer.from(text, 'latin1')));
    },
  },
  {
    name: 'frames of AMQP',
    parts: 8, // a 64th of it is shorter than a long frame
    files: ['amqp-connection.ts'],
    bound: { length: MEBIBYTE, by: 'MAX_BYTES' },
    shapes: {
      heartbeats: repeated('\u0008\0\0\0\0\0\0\u00ce'),
      methods: repeated('\u0001\0\u0001\0\0\0\u0004\0\u0032\0\u000b\u00ce'),
      'long frames': repeated(`\u0001\0\u0001\0\u0001\0\0${'a'.repeat(65_536)}\u00ce`),
    },
    read: (text) => {
      const decoder = new AmqpDecoder();
      const bytes = Buffer.from(text, 'latin1');
      attempt(() => {
        for (let at = 0; at < bytes.length; at += 1000) decoder.decode(bytes.subarray(at, at + 1000));
      });
    },
  },
  {
    name: 'queues of RabbitMQ',
    files: ['management-api.ts'],
    bound: RESPONSE,
    shapes: {
      queues: repeated('{"name":"a","messages":1},', {
        before: '{"page_count":1,"items":[',
        behind: '{"name":"a","messages":1}]}',
      }),
      'long names': repeated('a', { before: '{"page_count":1,"items":[{"name":"', behind: '"}]}' }),
      nesting: nested('[', ']'),
    },
    read: (text) =>
      attempt(() =>
        readQueueFigures(Buffer.from(text), {
          isExpression: true,
          operation: 'avg',
          countsUnacknowledged: true,
        }),
      ),
  },
  {
    name: 'what a server of NATS tells of itself',
    files: ['jetstream-consumer.ts'],
    bound: RESPONSE,
    shapes: {
      streams: repeated('{"name":"a"},', {
        before: '{"account_details":[{"name":"a","stream_detail":[',
        behind: '{"name":"a"}]}]}',
      }),
      addresses: repeated('"a:1",', { before: '{"connect_urls":[', behind: '"a:1"]}' }),
      'a long address': repeated('://', { before: '{"connect_urls":["', behind: '"]}' }),
    },
    read: (text) => {
      const body = Buffer.from(text);
      attempt(() => readJetstream(body, { account: 'a', stream: 'b', consumer: 'c' }).consumer());
      attempt(() => readServer(body));
    },
  },
  {
    name: 'rows of InfluxDB 3',
    files: ['influxdb3-server.ts'],
    bound: RESPONSE,
    shapes: {
      rows: repeated('{"a":1}\n'),
      'blank lines': repeated('\n', { before: '{"a":1}' }),
      'one row': repeated('"b":1,', { before: '{', behind: '"a":1}' }),
    },
    read: (text) => attempt(() => readLastRow(Buffer.from(text), 'a')),
  },
  {
    name: 'a response of Redis',
    files: ['redis-client.ts'],
    bound: { length: MEBIBYTE, by: 'MAX_BYTES' },
    shapes: {
      numbers: repeated(':1\r\n', { before: '*250000\r\n' }),
      lists: repeated('*1\r\n:1\r\n', { before: '*100000\r\n' }),
      'a long line': repeated('a', { before: '+' }),
      'a long text': repeated('a', { before: `$${MEBIBYTE}\r\n` }),
      returns: repeated('\r', { before: '+' }),
    },
    read: (text) => {
      const decoder = new RespDecoder();
      const bytes = Buffer.from(text);
      attempt(() => {
        for (let at = 0; at < bytes.length; at += 1000) decoder.decode(bytes.subarray(at, at + 1000));
      });
    },
  },
  {
    name: 'a formula',
    files: [],
    bound: { length: 2000, by: 'MAX_LENGTH' },
    shapes: {
      parentheses: nested('(', ')', { within: 'a' }),
      lists: nested('[', ']', { within: 'a' }),
      sum: repeated('a+', { behind: 'a' }),
      signs: repeated('-', { behind: 'a' }),
      choices: repeated('a>1?a:', { behind: 'a' }),
    },
    read: (text) => attempt(() => compileFormula(text).evaluate({ a: 1 })),
  },
];

function attempt(read: () => unknown): void {
  try {
    read();
  } catch {
    // rejections are expected
  }
}
