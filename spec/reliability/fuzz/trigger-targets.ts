import { z } from 'zod';
import { compileFormula } from '#lib/scaled-objects/preparation/formula.ts';
import { containerEnvironments } from '#lib/scaled-objects/triggers/authentication/container-environment.ts';
import {
  parseMysqlConnection,
  parsePostgresConnection,
} from '#lib/scaled-objects/triggers/parameters/connection-text.ts';
import { float, keyValues, parameter } from '#lib/scaled-objects/triggers/parameters/parameter.ts';
import { parametersOf } from '#lib/scaled-objects/triggers/parameters/read-parameters.ts';
import { RABBITMQ_CONNECTION, rabbitmqConnectionOf } from '#lib/scaled-objects/triggers/rabbitmq.ts';
import { parseSourceUrl } from '#lib/sources/http/source-url.ts';
import { jsonExtract } from '#lib/sources/json/json-query.ts';
import { parseExpression, parseJsonPath } from '#lib/sources/json/parse-jsonpath.ts';
import { readLocatedValue } from '#lib/sources/json/read-value.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { parseAddressRange } from '#lib/sources/network/ip-address.ts';
import { readSqlSource } from '#lib/sources/sql/sql-source.ts';
import { type FuzzTarget, isPlainError, never, parseJson, readAll } from './fuzz-target.ts';

const PARAMETERS = z.object({
  number: parameter(float.optional(), ''),
  pairs: parameter(keyValues.optional(), ''),
});
const DOCUMENT =
  '{"a":{"b":[{"n":3},{"n":"1500m"}]},"queues":[{"name":"q","depth":7},{"tags":{"toString":1}}]}';
const ADDRESS = [
  ...['http://orders.shop:8080/queue?a=b#c', 'https://[fd00::1%eth0]:1', '10.0.0.0/8', '*.example.com'],
  ...['::ffff:10.0.0.1/96', '2001:db8::/32'],
];

/** Readers of trigger settings and annotations. */
export const TRIGGER_TARGETS: readonly FuzzTarget[] = [
  {
    name: 'formula',
    bound: 2000,
    seeds: [
      'a + b * 2 > 3 ? max(a, b) : c ?? 0',
      'sum([a, b]) / count([1, 2, a], {# > 1}) ** 2 % 3',
      'float(a) in [1, 2] && !(b == nil) or mean([a]) <= -1 ? 1 : 0',
      'find(map([a, b], {abs(#) % 2}), {# > 0}) + count([a, b], {# > 1})',
    ],
    read: (text) => compileFormula(text).evaluate({ a: 1, b: 2, c: undefined }),
    isRefusal: isPlainError,
  },
  {
    name: 'valueLocation',
    seeds: [
      'a.b.1.n',
      'queues.#(name=="q").depth',
      'queues.#(depth>=7)#.name',
      'queues.#(tags!="x")#.#',
      'a\\.b.#.#',
    ],
    read: (text) => readLocatedValue(Buffer.from(DOCUMENT), { location: text, format: 'json' }),
    isRefusal: isPlainError,
  },
  {
    name: 'JSON at a valueLocation',
    seeds: [DOCUMENT, '{"a":[[1,[2]],{"b":null}]}'],
    read: (text) => {
      const body = Buffer.from(text);
      const locations = [
        'a.b.0.n',
        'queues.#(name=="q").depth',
        'queues.#(tags!="x")#.#',
        'a.#.#(b<1)#.b',
        '#.#',
      ];
      return readAll(
        isPlainError,
        ...locations.map((location) => () => readLocatedValue(body, { location, format: 'json' })),
      );
    },
    isRefusal: isPlainError,
  },
  {
    name: 'YAML at a valueLocation',
    bound: 16 * 1024,
    seeds: ['a:\n  b:\n    - {n: 3}\n    - n: "1500m"\n', 'a:\n  b: &x [{n: 0x7}, {n: ~}]\nqueues: *x\n'],
    read: (text) => readLocatedValue(Buffer.from(text), { location: 'a.b.0.n', format: 'yaml' }),
    isRefusal: isPlainError,
  },
  {
    name: 'JSONPath and expressions',
    bound: 4096,
    seeds: [
      "$.queues[?(@.name=='q' && @.depth > 1)]['depth']",
      '$..n[-1:0:-1]',
      'avg($.queues[*].depth) / 2 + -1',
      "avg($.queues[*].depth) > 2 && $.queues[0].name =~ '^q+$'",
    ],
    read: (text) =>
      readAll(
        isPlainError,
        () => parseJsonPath(text),
        () => parseExpression(text),
        ...(['path', 'expression'] as const).map(
          (form) => () => jsonExtract({ form, text, aggregator: 'sum' }).readNumber(Buffer.from(DOCUMENT)),
        ),
      ),
    isRefusal: isPlainError,
  },
  {
    name: 'connections to databases',
    seeds: [
      "host=db port=5432 user=u password='it\\'s' dbname=a sslmode=disable",
      'postgres://u:p%40@db:5432/a?sslmode=require',
      'u:p@tcp(db:3306)/a?tls=true&timeout=1s',
    ],
    read: (text) =>
      readAll(
        isPlainError,
        () => parsePostgresConnection(text),
        () => parseMysqlConnection(text),
      ),
    isRefusal: isPlainError,
  },
  {
    name: "RabbitMQ's host",
    seeds: ['amqp://u:p@rabbit:5672/%2fshop', 'https://u:p@rabbit/api', 'amqps://rabbit'],
    read: (text) => {
      const sources = { metadata: { host: text }, authentication: {}, environment: {} };
      return rabbitmqConnectionOf(parametersOf(z.object(RABBITMQ_CONNECTION), sources));
    },
    isRefusal: isPlainError,
  },
  {
    name: 'parameters of a trigger',
    seeds: ['12.5', '1e3', 'a=b,c=d', ' 0x10 '],
    read: (text) =>
      readAll(
        isPlainError,
        ...['number', 'pairs'].map(
          (name) => () =>
            parametersOf(PARAMETERS, { metadata: { [name]: text }, authentication: {}, environment: {} }),
        ),
      ),
    isRefusal: isPlainError,
  },
  {
    name: 'environment of a container',
    seeds: [
      '{"spec":{"template":{"spec":{"containers":[{"name":"main","envFrom":[{"prefix":"P_","configMapRef":{"name":"c"}},{"secretRef":{"name":"s"}}],"env":[{"name":"A","value":"$(P_user)$$(B)"},{"name":"B","valueFrom":{"secretKeyRef":{"name":"s","key":"user"}}},{"name":"C","valueFrom":{"configMapKeyRef":{"name":"c","key":"__proto__","optional":true}}},{"name":"D","value":"$(A)$(B)$(C)"}]}]}}}}',
    ],
    read: (text) => {
      const data = async () => ({ user: 'guest', constructor: 'x' });
      const readWorkload = async () => parseJson(text);
      const reader = { secretData: data, configMapData: data };
      const { signal } = new AbortController();
      return containerEnvironments({ readWorkload, reader, namespace: 'shop', signal })();
    },
    isRefusal: isPlainError,
  },
  {
    name: 'file that describes a database',
    bound: 32 * 1024,
    seeds: [
      'system: postgres\nhost: db\nport: 5432\ndatabase: a\nuser: u\npassword: p\ntls: {ca: /a, insecureSkipVerify: true}\n',
      '{system: mysql, host: "db", user: u, database: a, namespaces: [n]}',
    ],
    read: readSqlSource,
    isRefusal: isPlainError,
  },
  {
    name: 'addresses of sources',
    seeds: ADDRESS,
    read: async (text) => {
      parseSourceUrl(text);
      parseAddressRange(text);
      new AllowedHosts(['*.example', '10.0.0.0/8']).allows(text, '10.0.0.1');
      await readAll(isPlainError, () => new AllowedHosts([text]));
    },
    isRefusal: never,
  },
];
