import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { expect } from 'chai';
import { FairSemaphore } from '#lib/concurrency/semaphore.ts';
import { runForTenant } from '#lib/concurrency/tenant.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { IDLE_LIMITS } from '#lib/sources/network/guarded-socket.ts';
import { connectPostgres } from '#lib/sources/sql/connect-postgres.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { eventually } from '#spec/support/eventually.ts';

const CLEARTEXT = 3;
const MD5 = 5;
const SASL = 10;
const SASL_CONTINUE = 11;

describe('connectPostgres', () => {
  for (const [what, request] of [
    ['its password', authentication(CLEARTEXT, '')],
    ['the digest of its password', authentication(MD5, 'salt')],
    ['a login', authentication(SASL, 'SCRAM-SHA-256\0\0')],
  ] as const)
    it(`closes the connection to a server that requests ${what} twice`, async () => {
      await using server = await start((socket) => socket.write(Buffer.concat([request, request])));
      expect(await server.failure()).to.include('requests a login step twice');
    });

  for (const [what, names] of [
    ['user', { user: 'a\r\nflush_all\r\n' }],
    ['database', { database: 'a\nflush_all' }],
    ['user', { user: 'a\0options\0-c log_statement=all' }],
  ] as const)
    it(`sends no ${what} with the text ${JSON.stringify(names)}, as a server of another system may obey it`, async () => {
      let isContacted = false;
      await using server = await start(() => {
        isContacted = true;
      });
      const error = await server.connect(names).then(() => 'none', describeError);
      expect(error).to.equal('the user or database of PostgreSQL must not contain a line break');
      expect(isContacted).to.equal(false);
    });

  it("shows a server no password of this process's environment where it is to have none", async () => {
    const received: string[] = [];
    await using server = await start((socket) => {
      socket.on('data', (bytes: Buffer) => {
        received.push(bytes.toString('latin1'));
        socket.destroy();
      });
      socket.write(authentication(CLEARTEXT, ''));
    });
    process.env.PGPASSWORD = 'of the operator';
    try {
      await server.failure('');
    } finally {
      delete process.env.PGPASSWORD;
    }
    expect(received.join('')).to.not.contain('of the operator');
    expect(received).to.have.length.below(2);
  });

  it('derives keys of few passwords at once, even if servers close the connections', async () => {
    let derivations = 0;
    const closing = new Set<Socket>();
    await using server = await start((socket) => {
      socket.write(authentication(SASL, 'SCRAM-SHA-256\0\0'));
      socket.once('data', () => {
        derivations++;
        closing.add(socket);
      });
    });
    const logins = new FairSemaphore(4);
    const outcomes = Array.from({ length: 10 }, () =>
      runForTenant('shop', () => server.failure('secret', logins)),
    );
    await eventually(() => derivations === 2); // it leaves as many to other tenants
    const other = runForTenant('other', () => server.failure('secret', logins));
    await eventually(() => derivations === 3);
    const all = [...outcomes, other];
    let settled = 0;
    for (const outcome of all) void outcome.then(() => settled++);
    while (settled < all.length) {
      expect(closing.size).to.be.within(1, 3);
      for (const socket of [...closing].slice(0, 1)) {
        closing.delete(socket);
        socket.destroy();
      }
      await eventually(() => closing.size > 0 || settled === all.length);
    }
    expect(derivations).to.equal(all.length);
    expect(logins.isIdle).to.equal(true);
  });

  it('sends a proof of its password once, however often a server requests it', async () => {
    await using server = await start((socket) => {
      socket.write(authentication(SASL, 'SCRAM-SHA-256\0\0'));
      socket.once('data', (login) => {
        const [, nonce] = /r=([^\0]+)/.exec(login.toString('latin1')) ?? [];
        const proof = authentication(SASL_CONTINUE, `r=${nonce}x,s=AAAA,i=4096`);
        socket.write(Buffer.concat([proof, proof, proof]));
      });
    });
    expect(await server.failure()).to.include('requests a login step twice');
  });
});

describe('connectPostgres, with a server that sends messages without end', () => {
  for (const [what, message] of [
    ['notices', Buffer.from('N\0\0\0\x05\0', 'latin1')],
    ['parameters', Buffer.from('S\0\0\0\x08a\0b\0', 'latin1')],
    ['notifications', Buffer.from('A\0\0\0\x0a\0\0\0\x01a\0', 'latin1')],
  ] as const) {
    const flood = Buffer.concat(Array.from({ length: 1_000 }, () => message));
    it(`ends with 8,192 ${what} of a login`, async () => {
      await using server = await start((socket) => {
        socket.write(authentication(0, ''));
        for (let count = 0; count < 10; count++) socket.write(flood);
      });
      expect(await server.failure()).to.include('more than 8192 messages');
    });

    it(`ends with 256 ${what} while there is no statement`, async () => {
      const login = Buffer.concat([authentication(0, ''), Buffer.from('Z\0\0\0\x05I', 'latin1')]);
      let peer: Socket | undefined;
      await using server = await start((socket) => {
        peer = socket;
        socket.write(login);
      });
      const { socket, destroy } = await server.connect();
      using _bound = socket.limitResponse(IDLE_LIMITS);
      peer?.write(flood);
      await once(socket, 'close').catch(() => {}); // the error is expected
      expect(socket.failure?.message).to.include('more than 256 messages');
      destroy();
    });
  }
});

/** A server that responds as a spec sets, and why clients cannot connect. */
interface Names {
  readonly user?: string;
  readonly database?: string;
}

async function start(respond: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => {
      respond(socket);
      socket.on('data', () => {});
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const open = (password = 'secret', logins?: FairSemaphore, names: Names = {}) =>
    connectPostgres({
      logins,
      ...{ system: 'postgres', host: '127.0.0.1', port, tls: undefined },
      ...{ user: 'reader', password, database: 'shop', ...names },
      allowedHosts: new AllowedHosts(['127.0.0.1']),
    });
  return {
    connect: (names?: Names) => open('secret', undefined, names),
    failure: (password = 'secret', logins?: FairSemaphore) =>
      open(password, logins).then(() => 'none', describeError),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A request for an authentication step. */
function authentication(kind: number, data: string): Buffer {
  const head = Buffer.alloc(9);
  head.write('R');
  head.writeInt32BE(8 + data.length, 1);
  head.writeInt32BE(kind, 5);
  return Buffer.concat([head, Buffer.from(data)]);
}
