import type { Socket } from 'node:net';
import { expect } from 'chai';
import { encodeMethod, encodeShortString, METHODS, u16 } from '#lib/sources/rabbitmq/amqp-connection.ts';
import { ExternalScalerServer } from '#spec/support/external-scaler-server.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { playBroker } from '#spec/support/played-broker.ts';
import { RawServer } from '#spec/support/raw-server.ts';
import {
  type ScaledObjectsCluster,
  startScaledObjectsCluster,
} from '#spec/support/scaled-objects-cluster.ts';

const SECRET = 'do-not-tell';
const MEBIBYTE = 1024 * 1024;
const HEARTBEAT = Buffer.from([8, 0, 0, 0, 0, 0, 0, 0xce]);

describe('scaledObjectsSubsystem, with sources that hang and send wrong responses', () => {
  it('scales by the other sources in time, names the failing ones, and reveals no secret', async () => {
    await using stack = new AsyncDisposableStack();
    const cluster = stack.use(await startScaledObjectsCluster());
    const host = '127.0.0.1';
    const raw = async (onData: (socket: Socket) => void) =>
      stack.use(await RawServer.start((socket) => socket.on('data', () => onData(socket)))).port;
    const silent = await raw(() => {});
    const endless = (piece: Buffer | string) => (socket: Socket) => {
      const pour = () => {
        while (socket.writable && socket.write(piece));
        if (socket.writable) socket.once('drain', pour);
      };
      pour();
    };
    const frames = await playBroker({ [METHODS.queueDeclare]: endless(Buffer.alloc(MEBIBYTE, HEARTBEAT)) });
    stack.use(frames);
    const bulk = await raw((socket) => void socket.write('$1073741824\r\n'));
    const lines = await raw(endless('a'.repeat(MEBIBYTE)));
    const values = [{ metricName: 'a'.repeat(100 * MEBIBYTE), metricValue: 1 }];
    const giant = stack.use(
      await ExternalScalerServer.start({
        specs: [{ metricName: 'giant', targetSize: 1 }],
        values,
        isActive: true,
      }),
    );
    const web = stack.use(
      await LoopbackServer.start((_, response) => {
        const pour = () => {
          while (!response.destroyed && response.write(' '.repeat(MEBIBYTE)));
          if (!response.destroyed) response.once('drain', pour);
        };
        pour();
      }),
    );
    const echo = await raw((socket) => void socket.write(`-ERR is it ${SECRET}?\r\n`));
    const refuse = encodeMethod(
      0,
      METHODS.close,
      u16(403),
      encodeShortString(`is it ${SECRET}?`),
      u16(0),
      u16(0),
    );
    const refusing = stack.use(
      await playBroker({ [METHODS.startOk]: (socket) => void socket.write(refuse) }),
    );
    const unauthorized = stack.use(
      await LoopbackServer.start((_, response) => void response.writeHead(401).end(`is it ${SECRET}?`)),
    );
    const pending = stack.use(
      await ExternalScalerServer.start({ error: { code: 7, details: `is it ${SECRET}?` } }),
    );
    const login = `user:${SECRET}@`;
    const hostile: Readonly<Record<string, { readonly type: string; readonly metadata: object }>> = {
      'amqp-silent': {
        type: 'rabbitmq',
        metadata: { host: `amqp://${login}${host}:${silent}`, queueName: 'a' },
      },
      'amqp-endless': {
        type: 'rabbitmq',
        metadata: { host: `amqp://${login}${host}:${frames.server.port}`, queueName: 'a' },
      },
      'amqp-lines': {
        type: 'rabbitmq',
        metadata: { host: `amqp://${login}${host}:${lines}`, queueName: 'a' },
      },
      'http-endless': {
        type: 'rabbitmq',
        metadata: { host: `http://${login}${host}:${web.port}`, queueName: 'a', timeout: '5s' },
      },
      'redis-silent': {
        type: 'redis',
        metadata: { address: `${host}:${silent}`, listName: 'a', password: SECRET },
      },
      'redis-bulk': {
        type: 'redis',
        metadata: { address: `${host}:${bulk}`, listName: 'a', password: SECRET },
      },
      'redis-lines': {
        type: 'redis',
        metadata: { address: `${host}:${lines}`, listName: 'a', password: SECRET },
      },
      nats: {
        type: 'nats-jetstream',
        metadata: {
          natsServerMonitoringEndpoint: `${host}:${web.port}`,
          ...{ account: 'a', stream: 'a', consumer: 'a' },
        },
      },
      'redis-echo': {
        type: 'redis',
        metadata: { address: `${host}:${echo}`, listName: 'a', password: SECRET },
      },
      'amqp-echo': {
        type: 'rabbitmq',
        metadata: { host: `amqp://${login}${host}:${refusing.server.port}`, queueName: 'a' },
      },
      'http-echo': {
        type: 'rabbitmq',
        metadata: { host: `http://${login}${host}:${unauthorized.port}`, queueName: 'a' },
      },
      'scaler-echo': {
        type: 'external',
        metadata: { scalerAddress: `${host}:${pending.port}`, keyFromEnv: 'KEY' },
      },
      scaler: { type: 'external', metadata: { scalerAddress: `${host}:${giant.port}` } },
      'scaler-silent': { type: 'external-push', metadata: { scalerAddress: `${host}:${silent}` } },
    };
    for (const [name, trigger] of Object.entries(hostile)) {
      await cluster.deployment(name, 0, { env: [{ name: 'KEY', value: SECRET }] });
      await cluster.scaledObject(name, { pollingInterval: 5, triggers: [trigger] });
    }
    cluster.source.set('/queue', 12);
    await cluster.deployment('web', 0);
    await cluster.scaledObject('web', { triggers: [cluster.trigger('/queue')] });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.replicas('web')) === 1);
    for (let seconds = 0; seconds < 30; seconds += 5) await cluster.elapse(5);
    for (const name of Object.keys(hostile)) {
      await cluster.untilMet(async () => (await cluster.condition(name, 'Ready')).startsWith('False'));
      expect(await cluster.replicas(name), name).to.equal(0);
    }
    cluster.source.set('/queue', 0);
    expect(await everythingReported(cluster, Object.keys(hostile)))
      .to.contain('is it …?')
      .and.not.contain(SECRET);
  });

  it('lists the supported types of triggers for an unknown one', async () => {
    await using cluster = await startScaledObjectsCluster();
    await cluster.deployment('web', 0);
    await cluster.scaledObject('web', { triggers: [{ type: 'kafka', metadata: {} }] });
    await cluster.lead();
    await cluster.untilMet(async () => (await cluster.condition('web', 'Ready')).startsWith('False'));
    const reported = `${await cluster.condition('web', 'Ready')} ${cluster.events.join(' ')}`;
    expect(reported).to.contain(
      'no scaler found for type: kafka; supported types are aws-sqs-queue, cpu, cron, external,',
    );
    expect(reported).to.contain('redis-sentinel-streams, redis-streams');
  });
});

async function everythingReported(cluster: ScaledObjectsCluster, names: readonly string[]): Promise<string> {
  const reported: unknown[] = [cluster.logger.lines, cluster.events];
  for (const name of names)
    reported.push(
      await cluster.status(name),
      await cluster.get(`/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/keda-hpa-${name}`),
    );
  return JSON.stringify(reported);
}
