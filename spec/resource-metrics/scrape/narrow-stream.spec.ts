import { once } from 'node:events';
import net from 'node:net';
import { expect } from 'chai';
import { NarrowStream } from '#lib/resource-metrics/scrape/narrow-stream.ts';
import { eventually } from '#spec/support/eventually.ts';
import { RawServer } from '#spec/support/raw-server.ts';

async function connect(server: RawServer) {
  const socket = net.connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  return { socket, stream: new NarrowStream(socket) };
}

describe('NarrowStream', () => {
  it('hands on all that the socket receives, in pieces of at most 16 KiB', async () => {
    const sent = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index % 251));
    await using server = await RawServer.start((socket) => socket.end(sent));
    const { stream } = await connect(server);
    const pieces: Buffer[] = [];
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    await once(stream, 'end');
    expect(Buffer.concat(pieces).equals(sent)).to.equal(true);
    expect(Math.max(...pieces.map(({ length }) => length))).to.be.at.most(16 * 1024);
  });

  it('sends what is written to it', async () => {
    let received = '';
    await using server = await RawServer.start((socket) =>
      socket.on('data', (data) => {
        received += data;
      }),
    );
    const { stream } = await connect(server);
    stream.write('one ');
    stream.end('two');
    await eventually(() => received === 'one two');
  });

  it('takes nothing more off the wire while nobody reads', async () => {
    await using server = await RawServer.start((socket) => socket.write(Buffer.alloc(64 * 2 ** 20)));
    const { socket, stream } = await connect(server);
    stream.read(0);
    await eventually(() => socket.isPaused());
    expect(stream.readableLength).to.be.below(2 ** 20);
    stream.destroy();
  });

  it('ends with its socket, and its socket with it', async () => {
    await using server = await RawServer.start(() => {});
    const [one, other] = [await connect(server), await connect(server)];
    one.socket.destroy();
    await eventually(() => one.stream.destroyed);
    other.stream.destroy();
    await eventually(() => other.socket.destroyed && server.openSockets.length === 0);
  });

  it('fails as its socket does', async () => {
    await using server = await RawServer.start(() => {});
    const { socket, stream } = await connect(server);
    const failed = once(stream, 'error');
    socket.destroy(new Error('reset'));
    expect((await failed)[0]).to.have.property('message', 'reset');
  });
});
