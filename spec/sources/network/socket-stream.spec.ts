import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import { SocketStream } from '#lib/sources/network/socket-stream.ts';
import { eventually } from '#spec/support/eventually.ts';

describe('SocketStream', () => {
  it('delivers data in order, and reads no more until then', async () => {
    await using pair = await connect();
    const retained: (() => void)[] = [];
    const stream = new SocketStream(pair.client, (_, pass) => retained.push(pass));
    let text = '';
    stream.on('data', (chunk: Buffer) => {
      text += chunk;
    });
    pair.server.write('a');
    await eventually(() => retained.length === 1);
    pair.server.write('b');
    for (let iteration = 0; iteration < 50; iteration++) await new Promise(setImmediate);
    expect([retained.length, text]).to.deep.equal([1, '']);
    retained[0]?.();
    await eventually(() => retained.length === 2);
    retained[1]?.();
    expect(text).to.equal('ab');
  });

  it('leaves the first bytes to another reader', async () => {
    await using pair = await connect();
    const stream = new SocketStream(pair.client);
    pair.server.write('S');
    const [first] = await once(pair.client, 'data');
    expect(String(first)).to.equal('S');
    pair.client.removeAllListeners('data');
    const next = once(stream, 'data');
    pair.server.write('rest');
    expect(String((await next)[0])).to.equal('rest');
  });

  it('writes, ends and closes as its socket does', async () => {
    await using pair = await connect();
    const stream = new SocketStream(pair.client);
    const received = once(pair.server, 'data');
    stream.write('request');
    expect(String((await received)[0])).to.equal('request');
    stream.resume();
    const ended = once(stream, 'end');
    pair.server.end();
    await ended;
    const closed = once(stream, 'close');
    stream.end();
    await closed;
    expect(pair.client.destroyed).to.equal(true);
  });

  it('delivers nothing after it is destroyed', async () => {
    await using pair = await connect();
    const retained: (() => void)[] = [];
    const stream = new SocketStream(pair.client, (_, pass) => retained.push(pass));
    stream.on('data', () => expect.fail('it is destroyed'));
    pair.server.write('a');
    await eventually(() => retained.length === 1);
    stream.destroy();
    retained[0]?.();
    expect(pair.client.destroyed).to.equal(true);
  });
});

async function connect() {
  const listening = net.createServer();
  await once(listening.listen(0, '127.0.0.1'), 'listening');
  const accepted = once(listening, 'connection');
  const client = net.connect((listening.address() as AddressInfo).port, '127.0.0.1');
  const [server] = (await accepted) as [Socket];
  for (const socket of [client, server]) socket.on('error', () => {});
  if (client.connecting) await once(client, 'connect');
  return {
    ...{ client, server },
    async [Symbol.asyncDispose]() {
      client.destroy();
      server.destroy();
      listening.close();
      await once(listening, 'close');
    },
  };
}
