import {
  decodeIsActive,
  decodeMetricSpecs,
  decodeMetricValues,
} from '#lib/sources/external-scaler/messages.ts';
import type { HttpClient } from '#lib/sources/http/http-client.ts';
import { readLastRow } from '#lib/sources/http-apis/influxdb3-server.ts';
import { readJetstream, readServer } from '#lib/sources/http-apis/jetstream-consumer.ts';
import { NakadiServer } from '#lib/sources/http-apis/nakadi-server.ts';
import { readFluxTables } from '#lib/sources/http-apis/read-flux-tables.ts';
import {
  readPrometheusValue,
  readQueryError,
  readQueryResponse,
} from '#lib/sources/http-apis/read-prometheus-response.ts';
import { SqsRegion } from '#lib/sources/http-apis/sqs-queue.ts';
import { ZmonServer } from '#lib/sources/http-apis/zmon-server.ts';
import { jsonExtract } from '#lib/sources/json/json-query.ts';
import { readExpositionValue } from '#lib/sources/json/read-value.ts';
import {
  AmqpDecoder,
  encodeMethod,
  encodeShortString,
  METHODS,
  readCloseReason,
  readMessageCount,
  u16,
  u32,
} from '#lib/sources/rabbitmq/amqp-connection.ts';
import { readQueueFigures } from '#lib/sources/rabbitmq/management-api.ts';
import { RespDecoder, RespError, type RespValue } from '#lib/sources/redis/redis-client.ts';
import { readLength, readStreamCount } from '#lib/sources/redis/redis-length.ts';
import { Secrets } from '#lib/sources/secrets.ts';
import { toSamples } from '#lib/sources/sql/sql-database.ts';
import { type FuzzTarget, isPlainError, readAll } from './fuzz-target.ts';

const { signal } = new AbortController();
const at = new URL('http://source.example/api');

/** A client whose every response is the text. */
const respondingWith = (text: string) => {
  const body = Buffer.from(text);
  const headers = { 'content-type': 'application/x-amz-json-1.0' };
  const client: Pick<HttpClient, 'credentialName' | 'read' | 'exchange'> = {
    credentialName: '',
    read: async () => body,
    exchange: async () => ({ statusCode: 200, headers, body, secrets: new Secrets([]) }),
  };
  return client as HttpClient;
};

const frame = (type: number, channel: number, payload: Buffer) =>
  Buffer.concat([Buffer.from([type]), u16(channel), u32(payload.length), payload, Buffer.from([0xce])]);
const INFO = '# Server\r\nredis_version:7.2.1\r\nredis_mode:standalone';
const AMQP_SEEDS = [
  encodeMethod(1, METHODS.queueDeclareOk, encodeShortString('orders'), u32(7), u32(1)),
  encodeMethod(0, METHODS.close, u16(403), encodeShortString('ACCESS_REFUSED'), u16(10), u16(40)),
  frame(8, 0, Buffer.alloc(0)),
];

/** Readers of sources' responses. */
export const SOURCE_TARGETS: readonly FuzzTarget[] = [
  {
    name: "Prometheus' response",
    seeds: [
      '{"status":"success","data":{"resultType":"vector","result":[{"metric":{"job":"a"},"value":[1795251662.5,"3.5"]}]}}',
      '{"status":"success","data":{"resultType":"scalar","result":[1795251662,"NaN"]}}',
      '{"status":"error","errorType":"bad_data","error":"parse error"}',
    ],
    read: async (text) => {
      const body = Buffer.from(text);
      readQueryError(body);
      await readAll(
        isPlainError,
        () => readQueryResponse(body),
        () => readPrometheusValue(body, { query: 'up', isEmptyZero: true }),
        () => readPrometheusValue(body, { query: 'up', isEmptyZero: false }),
      );
    },
    isRefusal: isPlainError,
  },
  {
    name: 'exposition of a trigger',
    seeds: ['# TYPE depth gauge\ndepth{queue="a"} 4\ndepth{queue="b",x="}"} 5 1700000000000\n', 'up 1e3\n'],
    read: (text) =>
      readAll(
        isPlainError,
        () => readExpositionValue(text, 'depth{queue="a"}'),
        () => readExpositionValue('depth{queue="a"} 4\n', text),
      ),
    isRefusal: isPlainError,
  },
  {
    name: "InfluxDB's CSV",
    seeds: [
      '#datatype,string,long,double\r\n#group,false,false,false\r\n,result,table,_value\r\n,_result,0,2.5\r\n\r\n',
      'error,reference\r\n"a ""quoted"" text",897\r\n',
    ],
    read: (text) => readFluxTables(text, ['_value', 'value']),
    isRefusal: isPlainError,
  },
  {
    name: "InfluxDB 3's rows",
    seeds: ['{"queue":"a","depth":4}\n{"queue":"b","depth":5.5}\n', '{"depth":null}'],
    read: (text) => readLastRow(Buffer.from(text), 'depth'),
    isRefusal: isPlainError,
  },
  {
    name: "Nakadi's response",
    seeds: [
      '{"items":[{"id":"s1","partitions":[{"consumer_lag_seconds":3,"unconsumed_events":5}]}],"_links":{"next":{"href":"/api/subscriptions?offset=20"}}}',
      '{"items":[{"event_type":"a","partitions":[]}]}',
    ],
    read: (text) => {
      const server = new NakadiServer({ http: respondingWith(text), url: at });
      const found = { owningApplication: 'a', eventTypes: ['b'], consumerGroup: 'c' };
      return readAll(
        isPlainError,
        () => server.query('unconsumed-events', { id: 's1' }).run(signal),
        () => server.query('consumer-lag-seconds', found).run(signal),
      );
    },
    isRefusal: isPlainError,
  },
  {
    name: "ZMON's response",
    seeds: ['{"queries":[{"results":[{"values":[[1795251662000,4.5],[1795251663000,-0]]}]}]}'],
    read: (text) => {
      const check = { checkId: 1, tags: {}, durationMs: 60_000, aggregators: ['avg'] as const };
      return new ZmonServer({ http: respondingWith(text), url: at }).query(check).run(signal);
    },
    isRefusal: isPlainError,
  },
  {
    name: 'rows of a database',
    seeds: ['queue,value\na,4\nb,1.5e3', 'value\nnull'],
    // A client of the database builds rows of arbitrary texts.
    read: (text) => {
      const [columns = [], ...rows] = text.split('\n').map((row) => row.split(','));
      const withNull = rows.map((row) => row.map((cell) => (cell === 'null' ? null : cell)));
      return toSamples({ columns, rows: withNull });
    },
    isRefusal: isPlainError,
  },
  {
    name: "Redis' replies",
    seeds: [
      '$4\r\nlist\r\n:7\r\n',
      '+none\r\n',
      '-WRONGTYPE no\r\n',
      `$${INFO.length}\r\n${INFO}\r\n+stream\r\n*1\r\n*4\r\n$4\r\nname\r\n$1\r\ng\r\n$3\r\nlag\r\n:3\r\n`,
      '*4\r\n:5\r\n$-1\r\n$-1\r\n*-1\r\n',
    ],
    read: async (text) => {
      const decoder = new RespDecoder();
      const replies: RespValue[] = [];
      const bytes = Buffer.from(text);
      await readAll(isPlainError, () => {
        for (let start = 0; start < bytes.length; start += 1000)
          replies.push(...decoder.decode(bytes.subarray(start, start + 1000)));
      });
      const sending = () => {
        const left = replies.values();
        return async () => {
          const reply = left.next().value ?? null;
          if (reply instanceof RespError) throw new Error(reply.message);
          return reply;
        };
      };
      await readAll(
        isPlainError,
        () => readLength(sending(), 'k'),
        () => readStreamCount(sending(), { stream: 's', group: undefined, counted: 'length' }),
        () => readStreamCount(sending(), { stream: 's', group: 'g', counted: 'pending' }),
        () => readStreamCount(sending(), { stream: 's', group: 'g', counted: 'lag' }),
      );
    },
    isRefusal: isPlainError,
  },
  {
    name: 'frames of AMQP',
    seeds: AMQP_SEEDS.map((bytes) => bytes.toString('latin1')),
    read: async (text) => {
      const decoder = new AmqpDecoder();
      const bytes = Buffer.from(text, 'latin1');
      for (let start = 0; start < bytes.length; start += 1000)
        for (const method of decoder.decode(bytes.subarray(start, start + 1000)))
          await readAll(
            isPlainError,
            () => readMessageCount(method),
            () => readCloseReason(method),
          );
    },
    isRefusal: isPlainError,
  },
  {
    name: "RabbitMQ's queues",
    seeds: [
      '{"page_count":1,"items":[{"name":"a","messages":4,"messages_ready":3,"message_stats":{"publish_details":{"rate":1.5},"deliver_get_details":{"rate":2}}}]}',
      '{"name":"a","messages":4,"messages_ready":3}',
    ],
    read: (text) => {
      const body = Buffer.from(text);
      const queues = { operation: 'avg', countsUnacknowledged: true } as const;
      return readAll(
        isPlainError,
        () => readQueueFigures(body, { ...queues, isExpression: true }),
        () => readQueueFigures(body, { ...queues, isExpression: false }),
      );
    },
    isRefusal: isPlainError,
  },
  {
    name: "SQS' response",
    seeds: [
      '{"QueueUrl":"https://sqs.eu-central-1.amazonaws.com/1/a","Attributes":{"ApproximateNumberOfMessages":"5"}}',
    ],
    read: async (text) => {
      await using region = new SqsRegion({
        http: respondingWith(text),
        region: 'eu-central-1',
        endpoint: at,
        credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
      });
      await region.queueLength({ name: 'a' }).run(signal);
    },
    isRefusal: isPlainError,
  },
  {
    name: "NATS' monitoring",
    seeds: [
      '{"account_details":[{"name":"$G","stream_detail":[{"name":"orders","state":{"last_seq":9},"consumer_detail":[{"name":"c","num_pending":3,"num_ack_pending":1,"delivered":{"stream_seq":5}}]}]}]}',
      '{"server_name":"n1","cluster":{"urls":["n2:6222"]},"connect_urls":["10.0.0.1:4222"]}',
    ],
    read: (text) => {
      const body = Buffer.from(text);
      return readAll(
        isPlainError,
        () => readJetstream(body, { account: '$G', stream: 'orders', consumer: 'c' }).consumer(),
        () => readServer(body),
      );
    },
    isRefusal: isPlainError,
  },
  {
    name: "external scaler's messages",
    seeds: [
      '\n\u0008\n\u0004load\u0010\u0005',
      '\n\u000f\n\u0004load\u0019\0\0\0\0\0\0\u0014\u0040',
      '\u0008\u0001',
    ],
    read: (text) => {
      const bytes = Buffer.from(text, 'latin1');
      return readAll(
        isPlainError,
        () => decodeIsActive(bytes),
        () => decodeMetricSpecs(bytes),
        () => decodeMetricValues(bytes),
      );
    },
    isRefusal: isPlainError,
  },
  {
    name: 'JSON of an endpoint',
    seeds: ['{"queues":[{"name":"a","depth":4},{"name":"b","depth":"5"}],"total":9}', '[1,2.5,-3e2]'],
    read: (text) => {
      const body = Buffer.from(text);
      const extracts = [
        jsonExtract({ form: 'path', text: '$..*', aggregator: 'sum' }),
        jsonExtract({ form: 'path', text: "$.queues[?(@.name=='a')].depth", aggregator: 'max' }),
        jsonExtract({ form: 'expression', text: 'sum($.queues[*].depth) / length($.queues)' }),
      ];
      return readAll(isPlainError, ...extracts.map((extract) => () => extract.readNumber(body)));
    },
    isRefusal: isPlainError,
  },
];
