import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { NameResolver } from '#lib/dns/name-resolver.ts';
import { systemClock } from '#lib/time/clock.ts';
import type { ForeignReader } from './foreign-reader.ts';

const NAME = 'kubelet.test';
const [A, CNAME, IN] = [1, 5, 1];
const HEADER_BYTES = 12;

/**
 * A name server's response, which c-ares reads. Thousands of addresses of one name, and chains of thousands of aliases,
 * are not among its shapes: they take more than linear time, up to 0.2 s at the bound, as docs/contributing/reliability.md says.
 *
 * The text is the whole message in Latin 1; the server sets the ID of the query.
 */
export const DNS_READER: ForeignReader = {
  name: 'DNS response',
  files: ['name-resolver.ts'],
  bound: { length: 60_000, by: 'UDP' },
  parts: 8, // each has its own server
  shapes: {
    'long names': response((index) =>
      record(name(`${'a'.repeat(60)}.${index}`), CNAME, name('b'.repeat(63))),
    ),
    'broken off': (length) => response(() => record(name('a'), A, Buffer.alloc(200)))(length).slice(0, -100),
    'no records at all': (length) => response(() => Buffer.alloc(16))(length),
  },
  read: async (text) => {
    using server = await startServer(Buffer.from(text, 'latin1'));
    const none = async () => '';
    const resolver = new NameResolver({
      clock: systemClock,
      timeoutMs: 100,
      hosts: none,
      resolvConf: none,
      servers: [server.address],
    });
    return await resolver.resolve(NAME, new AbortController().signal);
  },
};

/** A message of approximately a given length, with generated records. */
function response(recordOf: (index: number) => Buffer): (length: number) => string {
  return (length) => {
    const records: Buffer[] = [];
    const question = Buffer.concat([name(NAME), u16(A), u16(IN)]);
    for (let left = length - HEADER_BYTES - question.length; left > 0; ) {
      const next = recordOf(records.length);
      records.push(next);
      left -= next.length;
    }
    const header = Buffer.concat([0, 0x8180, 1, records.length, 0, 0].map(u16));
    return Buffer.concat([header, question, ...records]).toString('latin1');
  };
}

function record(owner: Buffer, type: number, data: Buffer): Buffer {
  return Buffer.concat([owner, u16(type), u16(IN), u16(0), u16(60), u16(data.length), data]);
}

/** A name as labels with their lengths. */
function name(text: string): Buffer {
  const labels = text.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`));
  return Buffer.concat([...labels, Buffer.alloc(1)]);
}

function u16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 0xff]);
}

/** Responds to each query with the same message, under the query's ID and question. */
async function startServer(message: Buffer): Promise<{ readonly address: string } & Disposable> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  socket.on('message', (request, peer) => {
    const own = Buffer.from(message);
    const questionEnd = HEADER_BYTES + name(NAME).length + 4;
    request.copy(own, 0, 0, 2);
    request.copy(own, HEADER_BYTES, HEADER_BYTES, questionEnd);
    socket.send(own, peer.port, peer.address, () => {}); // the caller may have ended
  });
  return {
    address: `127.0.0.1:${socket.address().port}`,
    [Symbol.dispose]: () => void socket.close(),
  };
}
