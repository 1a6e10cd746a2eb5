import type { Socket } from 'node:net';
import type { TlsOptions } from 'node:tls';
import {
  AmqpDecoder,
  encodeLongString,
  encodeMethod,
  encodeShortString,
  encodeTable,
  METHODS,
  u16,
  u32,
} from '#lib/sources/rabbitmq/amqp-connection.ts';
import { RawServer } from './raw-server.ts';

/** Behavior of the fake broker by method; by default, it behaves as RabbitMQ does. */
export type BrokerBehaviour = Readonly<Record<string, (socket: Socket) => void>>;

/** A fake AMQP broker on a loopback port. */
export interface PlayedBroker extends AsyncDisposable {
  readonly server: RawServer;
  /** Lengths of queues by name. */
  readonly queues: Map<string, number>;
  /** Received methods, with the user and virtual host. */
  readonly observed: string[];
  behaviour: BrokerBehaviour;
}

export async function playBroker(behaviour: BrokerBehaviour = {}, tls?: TlsOptions): Promise<PlayedBroker> {
  const queues = new Map<string, number>();
  const observed: string[] = [];
  const onConnection = (socket: Socket) => {
    const decoder = new AmqpDecoder();
    let isGreeted = false;
    let isChannelOpen = false;
    socket.on('data', (chunk: Buffer) => {
      const bytes = isGreeted ? chunk : chunk.subarray(8);
      if (!isGreeted) {
        isGreeted = true;
        respond('header', Buffer.alloc(0), 0);
      }
      for (const { id, content, channel } of decoder.decode(bytes)) respond(id, content, channel);
    });
    const respond = (id: string, content: Buffer, channel: number) => {
      observed.push(id === METHODS.startOk || id === METHODS.open ? `${id} ${texts(content)}` : id);
      const own = played.behaviour[id];
      if (own) return own(socket);
      const send = (method: string, ...fields: Buffer[]) =>
        socket.write(encodeMethod(channel, method, ...fields));
      if (id === 'header')
        send(
          METHODS.start,
          Buffer.from([0, 9]),
          encodeTable({}),
          encodeLongString('PLAIN EXTERNAL'),
          encodeLongString('en_US'),
        );
      if (id === METHODS.startOk) send(METHODS.tune, u16(2047), u32(131_072), u16(60));
      if (id === METHODS.open) send(METHODS.openOk, encodeShortString(''));
      if (id === METHODS.channelOpen) {
        isChannelOpen = true;
        send(METHODS.channelOpenOk, encodeLongString(''));
      }
      if (id !== METHODS.queueDeclare) return;
      if (!isChannelOpen) {
        const reason = [u16(504), encodeShortString("CHANNEL_ERROR - expected 'channel.open'")];
        socket.write(encodeMethod(0, METHODS.close, ...reason, u16(50), u16(10)));
        return;
      }
      const name = content.subarray(3, 3 + (content[2] ?? 0)).toString();
      const length = queues.get(name);
      if (length !== undefined) {
        send(METHODS.queueDeclareOk, encodeShortString(name), u32(length), u32(0));
        return;
      }
      isChannelOpen = false;
      send(
        METHODS.channelClose,
        u16(404),
        encodeShortString(`NOT_FOUND - no queue '${name}'`),
        u16(50),
        u16(10),
      );
    };
  };
  const server = await RawServer.start(onConnection, tls ? { tls } : {});
  const played: PlayedBroker = {
    ...{ server, queues, observed, behaviour },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return played;
}

/** The readable texts in binary content. */
function texts(content: Buffer): string {
  return content.toString('latin1').replaceAll(/[^\x21-\x7e]+/g, ' ');
}
