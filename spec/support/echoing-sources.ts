import { encodeMethod, encodeShortString, METHODS, u16 } from '#lib/sources/rabbitmq/amqp-connection.ts';
import { ExternalScalerServer } from './external-scaler-server.ts';
import { LoopbackServer } from './loopback-server.ts';
import { playBroker } from './played-broker.ts';
import { RawServer } from './raw-server.ts';

/** A trigger whose source responds with a text that the spec sets, if its protocol carries texts. */
export interface EchoingSource {
  readonly type: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Authentication parameters that contain the secret. */
  readonly authentication?: Readonly<Record<string, string>>;
}

/** One source of each kind that returns texts of its own, all of which return the given text; their triggers by name. */
export async function startEchoingSources(
  secret: string,
  text: () => string,
): Promise<AsyncDisposable & { readonly sources: Readonly<Record<string, EchoingSource>> }> {
  await using starting = new AsyncDisposableStack();
  const host = '127.0.0.1';
  const raw = async (respond: () => Buffer | string, isFirst = false) => {
    const server = await RawServer.start((socket) => {
      if (isFirst) socket.end(respond());
      else socket.on('data', () => void socket.write(respond()));
    });
    return `${host}:${starting.use(server).port}`;
  };
  const web = async (status: number, body: () => string) => {
    const server = await LoopbackServer.start((_, response) => void response.writeHead(status).end(body()));
    return starting.use(server).url.origin;
  };
  const oneLine = () => text().replaceAll(/[\r\n]/g, ' ');
  const redis = await raw(() => `-ERR ${oneLine()}\r\n`);
  const leading = await raw(() => `-MOVED 1 ${oneLine().replaceAll(/\s/g, '').slice(-250)}:6379\r\n`);
  const close = () =>
    encodeMethod(
      ...([
        0,
        METHODS.close,
        u16(403),
        encodeShortString(Buffer.from(text()).subarray(0, 250).toString('latin1')),
      ] as const),
      ...[u16(0), u16(0)],
    );
  const broker = starting.use(
    await playBroker({ [METHODS.startOk]: (socket) => void socket.write(close()) }),
  );
  const scaler = starting.use(await ExternalScalerServer.start({}));
  Object.defineProperty(scaler.responses, 'error', { get: () => ({ code: 7, details: oneLine() }) });
  const naming = starting.use(await ExternalScalerServer.start({}));
  Object.defineProperty(naming.responses, 'specs', {
    get: () => [{ metricName: oneLine().replaceAll(/[\s/%]/g, ''), targetSize: 1 }],
  });
  const postgres = await raw(() => {
    const fields = Buffer.from(`SERROR\0C28P01\0M${text()}\0\0`);
    const head = Buffer.alloc(5);
    head.write('E');
    head.writeUInt32BE(fields.length + 4, 1);
    return Buffer.concat([head, fields]);
  });
  const mysql = await raw(() => {
    const payload = Buffer.concat([Buffer.from([0xff, 0x10, 0x04]), Buffer.from(`#08004${text()}`)]);
    return Buffer.concat([Buffer.from([payload.length & 0xff, payload.length >> 8, 0, 0]), payload]);
  }, true);
  const quoted = () => `"${text().replaceAll('"', '""')}"`;
  const flux = (column: string, type: string) => () =>
    `#datatype,string,long,${type}\r\n,result,table,${column}\r\n,_result,0,${quoted()}\r\n`;
  const influxdb = (serverURL: string, more = {}): EchoingSource => ({
    type: 'influxdb',
    metadata: { serverURL, query: 'q', organizationName: 'o', thresholdValue: '1', ...more },
    authentication: { authToken: secret },
  });
  const prometheus = (serverAddress: string): EchoingSource => ({
    type: 'prometheus',
    metadata: { serverAddress, query: 'q', threshold: '1', authModes: 'bearer' },
    authentication: { bearerToken: secret },
  });
  const metricsApi = (url: string, more = {}): EchoingSource => ({
    type: 'metrics-api',
    metadata: { url, valueLocation: 'a', targetValue: '1', authModes: 'apiKey', ...more },
    authentication: { apiKey: secret },
  });
  const json = () => JSON.stringify({ a: text(), message: text(), reason: text() });
  const garbage = await web(200, () => `{"a": ${text()}`);
  const sql = { query: 'SELECT 1', host };
  const sources: Readonly<Record<string, EchoingSource>> = {
    redis: {
      type: 'redis',
      metadata: { address: redis, listName: 'a' },
      authentication: { password: secret },
    },
    'redis-cluster': {
      type: 'redis-cluster',
      metadata: { address: leading, listName: 'a' },
      authentication: { password: secret },
    },
    'redis-sentinel': {
      type: 'redis-sentinel-streams',
      metadata: { address: redis, stream: 'a', sentinelMaster: 'm' },
      authentication: { sentinelPassword: secret },
    },
    amqp: {
      type: 'rabbitmq',
      metadata: { queueName: 'a' },
      authentication: { host: `amqp://user:${encodeURIComponent(secret)}@${host}:${broker.server.port}` },
    },
    'management plugin': {
      type: 'rabbitmq',
      metadata: { queueName: 'a', host: await web(401, json) },
      authentication: { username: 'user', password: secret },
    },
    external: {
      type: 'external',
      metadata: { scalerAddress: `${host}:${scaler.port}`, keyFromEnv: 'KEY' },
    },
    'names of metrics': {
      type: 'external',
      metadata: { scalerAddress: `${host}:${naming.port}`, keyFromEnv: 'KEY' },
    },
    postgresql: {
      type: 'postgresql',
      metadata: {
        ...{ ...sql, targetQueryValue: '1', port: postgres.split(':')[1] ?? '', userName: 'u', dbName: 'd' },
        sslmode: 'disable',
      },
      authentication: { password: secret },
    },
    mysql: {
      type: 'mysql',
      metadata: { ...sql, queryValue: '1', port: mysql.split(':')[1] ?? '', username: 'u', dbName: 'd' },
      authentication: { password: secret },
    },
    'aws-sqs-queue': {
      type: 'aws-sqs-queue',
      metadata: {
        ...{ queueURL: 'a', awsRegion: 'eu-central-1', awsAccessKeyID: 'a' },
        awsEndpoint: await web(400, () => JSON.stringify({ __type: 'AccessDenied', message: text() })),
      },
      authentication: { awsSecretAccessKey: secret, awsSessionToken: secret },
    },
    'aws-sqs-queue, no count': {
      type: 'aws-sqs-queue',
      metadata: {
        ...{
          queueURL: 'http://a/1/a',
          awsRegion: 'eu-central-1',
          awsAccessKeyID: 'a',
          scaleOnInFlight: 'false',
        },
        awsEndpoint: await web(200, () =>
          JSON.stringify({ Attributes: { ApproximateNumberOfMessages: text() } }),
        ),
      },
      authentication: { awsSecretAccessKey: secret, awsSessionToken: secret },
    },
    influxdb: influxdb(await web(401, json)),
    'influxdb, no number': influxdb(await web(200, flux('_value', 'string'))),
    'influxdb, an error inside': influxdb(
      await web(200, () => `#datatype,string,string\r\n,error,reference\r\n,${quoted()},897\r\n`),
    ),
    'influxdb 3': influxdb(await web(401, text), { influxVersion: '3', database: 'd', metricKey: 'a' }),
    'influxdb 3, no number': influxdb(await web(200, json), {
      ...{ influxVersion: '3', database: 'd', metricKey: 'a' },
    }),
    prometheus: prometheus(await web(400, () => JSON.stringify({ status: 'error', error: text() }))),
    'prometheus, no JSON': prometheus(garbage),
    'prometheus, no number': prometheus(
      await web(200, () =>
        JSON.stringify({ data: { resultType: 'vector', result: [{ value: [1, text()] }] } }),
      ),
    ),
    'metrics-api': metricsApi(await web(403, text)),
    'metrics-api, no JSON': metricsApi(garbage),
    'metrics-api, no number': metricsApi(await web(200, json), { method: 'query' }),
    'metrics-api, no YAML': metricsApi(garbage, { format: 'yaml' }),
    'metrics-api, no exposition': metricsApi(garbage, { format: 'prometheus' }),
    'nats-jetstream': {
      type: 'nats-jetstream',
      metadata: {
        ...{ natsServerMonitoringEndpoint: new URL(await web(500, text)).host, stream: 'a', consumer: 'a' },
      },
      authentication: { account: secret },
    },
  };
  const stack = starting.move();
  return { sources, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
