import type { Socket } from 'node:net';
import { expect } from 'chai';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { type RedisServerOptions, RedisServers } from '#lib/sources/redis/redis-servers.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { eventually } from '#spec/support/eventually.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RawServer, serverCertificate } from '#spec/support/raw-server.ts';

describe('RedisServers', () => {
  let clock: ManualClock;
  let redis: RedisServers;
  let stack: AsyncDisposableStack;
  const never = new AbortController().signal;

  beforeEach(() => {
    clock = new ManualClock();
    stack = new AsyncDisposableStack();
    redis = stack.use(new RedisServers({ clock, allowedHosts: new AllowedHosts(['127.0.0.0/8']) }));
  });

  afterEach(() => stack.disposeAsync());

  const start = async (respond: (command: readonly string[], socket: Socket) => void, tls?: object) =>
    stack.use(
      await RawServer.start(
        (socket) => {
          socket.on('data', (chunk) => {
            for (const command of commandsIn(String(chunk))) respond(command, socket);
          });
        },
        tls ? { tls } : {},
      ),
    );
  const at = ({ port }: { readonly port: number }, more: Partial<RedisServerOptions> = {}) => ({
    ...{ host: '127.0.0.1', port, database: 0, username: undefined, password: undefined, tls: undefined },
    ...more,
  });
  const request = (server: RedisServerOptions, word: string, signal = never) =>
    redis.use(server, (send) => send(word), signal);

  it('matches responses to requests, and authenticates and selects the database first', async () => {
    const observed: string[] = [];
    const server = await start((command, socket) => {
      observed.push(command.join(' '));
      socket.write(command[0] === 'SAY' ? `+${command[1]}\r\n` : '+OK\r\n');
    });
    const options = at(server, { username: 'reader', password: 'hidden', database: 3 });
    const message = await Promise.all(
      ['a', 'b', 'c'].map((word) => redis.use(options, (send) => send('SAY', word), never)),
    );
    expect(message).to.deep.equal(['a', 'b', 'c']);
    expect(observed).to.deep.equal(['AUTH reader hidden', 'SELECT 3', 'PING', 'SAY a', 'SAY b', 'SAY c']);
    expect(server.sockets).to.have.length(1);
  });

  it('reuses the connection when the server refuses a command', async () => {
    const server = await start(([word], socket) => socket.write(word === 'BAD' ? '-ERR no\r\n' : '+OK\r\n'));
    expect(await errorOf(request(at(server), 'BAD'))).to.equal('ERR no');
    expect(await request(at(server), 'GOOD')).to.equal('OK');
    expect(server.sockets).to.have.length(1);
  });

  it('closes the connection at a response beyond the limit, before it is complete', async () => {
    const server = await start(([word], socket) =>
      socket.write(word === 'PING' ? '+PONG\r\n' : '$1073741824\r\naaaa'),
    );
    expect(await errorOf(request(at(server), 'GIANT'))).to.equal('the response is longer than 131072 bytes');
    await eventually(() => server.openSockets.length === 0);
  });

  it('closes a connection with an unexpected response, and opens a new one', async () => {
    const server = await start(([word], socket) =>
      socket.write(word === 'TWICE' ? '+a\r\n+b\r\n' : '+OK\r\n'),
    );
    expect(await request(at(server), 'TWICE')).to.equal('a');
    await eventually(() => server.openSockets.length === 0);
    expect(await request(at(server), 'GOOD')).to.equal('OK');
    expect(server.sockets).to.have.length(2);
  });

  it('opens another connection for the next request when one hangs', async () => {
    let hangs = true;
    let observed = 0;
    const server = await start(([word], socket) => {
      if (word === 'SLOW') observed++;
      if (word === 'PING' || !hangs) socket.write('+OK\r\n');
    });
    const given = new AbortController();
    const hanging = errorOf(request(at(server), 'SLOW', given.signal));
    await eventually(() => observed === 1);
    given.abort(new Error('too late'));
    expect(await hanging).to.equal('too late');
    hangs = false;
    expect(await request(at(server), 'GOOD')).to.equal('OK');
    expect(server.sockets).to.have.length(2);
    await eventually(() => server.openSockets.length === 1);
  });

  it('closes the connection to a silent server after four seconds', async () => {
    const server = await start(() => {});
    const failed = errorOf(request(at(server), 'GOOD'));
    await eventually(() => server.sockets.length === 1);
    await clock.advance(4000);
    expect(await failed).to.match(/no connection within 4s$/);
    await eventually(() => server.openSockets.length === 0);
  });

  it('reports an authentication error without the password', async () => {
    const server = await start((_, socket) => socket.write('-WRONGPASS no\r\n'));
    expect(await errorOf(request(at(server, { password: 'hidden' }), 'GOOD'))).to.equal(
      `connection to redis failed: 127.0.0.1:${server.port}: WRONGPASS no`,
    );
    await eventually(() => server.openSockets.length === 0);
  });

  it('verifies the certificate for the host unless verification is disabled', async () => {
    const { ca, tls } = serverCertificate('127.0.0.1');
    const server = await start((_, socket) => socket.write('+OK\r\n'), tls);
    expect(await request(at(server, { tls: { ca, isUnverified: false } }), 'GOOD')).to.equal('OK');
    expect(await request(at(server, { tls: { isUnverified: true } }), 'GOOD')).to.equal('OK');
    expect(await errorOf(request(at(server, { tls: { isUnverified: false } }), 'GOOD'))).to.match(
      /connection to redis failed: .*(self-signed|unable to verify|unable to get)/,
    );
    const other = serverCertificate('redis.example');
    const wrong = await start((_, socket) => socket.write('+OK\r\n'), other.tls);
    expect(
      await errorOf(request(at(wrong, { tls: { ca: other.ca, isUnverified: false } }), 'GOOD')),
    ).to.match(/connection to redis failed: .*(does not match|altnames)/);
  });

  it('dials no address that is not allowed', async () => {
    const server = at({ port: 6379 }, { host: '10.1.2.3' });
    expect(await errorOf(request(server, 'GOOD'))).to.match(/10\.1\.2\.3 is not allowed/);
  });
});

function commandsIn(text: string): readonly (readonly string[])[] {
  const parts = text.split('\r\n');
  const commands: string[][] = [];
  for (let at = 0; parts[at]?.startsWith('*'); ) {
    const words = Number(parts[at]?.slice(1));
    commands.push(Array.from({ length: words }, (_, index) => parts[at + 2 + 2 * index] ?? ''));
    at += 1 + 2 * words;
  }
  return commands;
}
