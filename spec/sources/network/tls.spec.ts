import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import tls, { type TlsOptions } from 'node:tls';
import { expect } from 'chai';
import { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { runForTenant } from '#lib/concurrency/tenant.ts';
import { ScalerChannel } from '#lib/sources/external-scaler/scaler-channel.ts';
import { connectionPool } from '#lib/sources/http/http-pool.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { dial } from '#lib/sources/network/guarded-socket.ts';
import { connectMysql } from '#lib/sources/sql/connect-mysql.ts';
import { connectPostgres } from '#lib/sources/sql/connect-postgres.ts';
import { issueCertificate } from '#simulator/access/certificate.ts';
import { generateKeys } from '#simulator/access/certificate-authority.ts';
import { eventually } from '#spec/support/eventually.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

/** A client of a kind of source, and the plain-text exchange before TLS. */
interface SourceClient {
  /** Connects and sends a request; its result does not matter for the handshake. */
  readonly connect: (port: number, signal: AbortSignal, share?: EventLoopShare) => Promise<unknown>;

  readonly greet?: (socket: Socket) => Promise<unknown>;
}

const allowedHosts = new AllowedHosts(['127.0.0.1']);
const HOST = '127.0.0.1';
const DATABASE = {
  user: 'reader',
  password: '',
  database: 'shop',
  tls: { isUnverified: true },
  allowedHosts,
};

const CLIENTS: Readonly<Record<string, SourceClient>> = {
  'the clients of Redis and AMQP': {
    connect: async (port, signal, share) => {
      const options = { host: HOST, port, tls: { isUnverified: true }, allowedHosts, share };
      const { destroy } = await dial(options, signal);
      signal.addEventListener('abort', destroy);
    },
  },
  'HTTP clients': {
    connect: async (port, signal, share) => {
      const options = { allowedHosts, share, clock: new ManualClock(), connectTimeoutMs: 10_000 };
      const pool = connectionPool({ isUnverified: true }, options);
      const origin = `https://${HOST}:${port}`;
      signal.addEventListener('abort', () => void pool.destroy());
      await pool.use(origin, signal, (to) => to.request({ origin, path: '/', method: 'GET', signal }));
    },
  },
  'clients of external scalers': {
    connect: async (port, signal, share) => {
      const secured = { ca: undefined, cert: undefined, key: undefined, isUnverified: true };
      const at = { host: HOST, port, tls: secured };
      const channel = new ScalerChannel(at, { addresses: [HOST], clock: new ManualClock(), share });
      signal.addEventListener('abort', () => channel.destroy());
      await channel.call({ method: 'IsActive', request: Buffer.alloc(0), decode: () => true }, signal);
    },
  },
  'clients of PostgreSQL': {
    connect: async (port, signal, share) => {
      const { destroy } = await connectPostgres({ ...DATABASE, system: 'postgres', host: HOST, port, share });
      signal.addEventListener('abort', destroy);
    },
    greet: async (socket) => {
      await take(socket, 8); // the request for TLS
      socket.write('S');
    },
  },
  'clients of MySQL': {
    connect: async (port, signal) => {
      const { destroy } = await connectMysql({ ...DATABASE, system: 'mysql', host: HOST, port });
      signal.addEventListener('abort', destroy);
    },
    greet: async (socket) => {
      socket.write(mysqlGreeting());
      await take(socket, 36); // the request for TLS
    },
  },
};

describe('CIPHERS_WITHOUT_DHE', () => {
  for (const [which, client] of Object.entries(CLIENTS)) {
    it(`has ${which} work out no key over numbers that a server chooses`, async () => {
      await using server = await start(client, { ciphers: 'DHE-RSA-AES128-GCM-SHA256', dhparam: 'auto' });
      expect(await server.handshake()).to.match(/no shared cipher/i);
    });

    for (const [how, options] of [
      ['over curves', { ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' }],
      ['by RSA', { ciphers: 'AES128-GCM-SHA256' }],
      ['by TLS 1.3', { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' }],
    ] as const)
      it(`leaves ${which} to agree on one ${how}`, async () => {
        await using server = await start(client, options);
        expect(await server.handshake()).to.equal('secured');
      });
  }
});

/** Only administrators configure MySQL databases with TLS. */
const OF_TENANTS = Object.entries(CLIENTS).filter(([which]) => which !== 'clients of MySQL');

describe('TLS of sources that tenants choose', () => {
  for (const [which, client] of OF_TENANTS) {
    it(`is processed in the turn of the tenant by ${which}`, async () => {
      const share = new BlockedShare(new ManualClock());
      await using server = await start(client, { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' }, { share });
      const handshake = runForTenant('shop', () => server.handshake());
      let outcome = 'none';
      void handshake.then((reached) => {
        outcome = reached;
      });
      await eventually(() => share.pieces.length > 0);
      for (let iteration = 0; iteration < 100; iteration++) await new Promise(setImmediate);
      expect([share.pieces.length, outcome]).to.deep.equal([1, 'none']);
      share.release();
      expect(await handshake).to.equal('secured');
      expect(new Set(share.tenants)).to.deep.equal(new Set(['shop']));
    });

    if (which === 'clients of PostgreSQL') continue; // the response limit includes the handshake
    it(`ends with more than 32 KiB of a handshake by ${which}`, async () => {
      const names = Array.from({ length: 2_000 }, (_, index) => `host-${index}.example.com`);
      await using server = await start(client, { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' }, { names });
      expect(await server.handshake()).to.not.equal('secured');
    });
  }
});

/** Schedules nothing until it is released. */
class BlockedShare extends EventLoopShare {
  readonly pieces: (() => void)[] = [];
  readonly tenants: (string | undefined)[] = [];
  #isReleased = false;

  override schedule(tenant: string | undefined, work: () => void): void {
    this.tenants.push(tenant);
    if (this.#isReleased) super.schedule(tenant, work);
    else this.pieces.push(work);
  }

  release(): void {
    this.#isReleased = true;
    for (const piece of this.pieces.splice(0)) piece();
  }
}

/** A server with an RSA certificate, as these key exchanges need, and a client that connects to it. */
async function start(
  { connect, greet }: SourceClient,
  options: TlsOptions,
  {
    share,
    names = ['localhost'],
  }: { readonly share?: EventLoopShare; readonly names?: readonly string[] } = {},
) {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const subject = { commonName: 'localhost' };
  const validity = { notBefore: new Date(Date.now() - 1000), notAfter: new Date(Date.now() + 86_400_000) };
  const request = { subject, validity, publicKey, names, usages: ['serverAuth'] as const };
  const cert = issueCertificate(request, { subject, ...generateKeys() });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const handshake = Promise.withResolvers<string>();
  const securing = tls.createServer({
    maxVersion: 'TLSv1.2',
    ALPNProtocols: ['h2', 'http/1.1'],
    ...options,
    cert,
    key,
  });
  securing.on('secureConnection', (socket) => {
    socket.on('error', () => {});
    handshake.resolve('secured');
  });
  securing.on('tlsClientError', ({ message }) => handshake.resolve(message));
  const sockets = new Set<Socket>();
  const server = net.createServer(async (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    await greet?.(socket);
    securing.emit('connection', socket);
  });
  server.listen(0, HOST);
  await once(server, 'listening');
  const leaving = new AbortController();
  let outcome: unknown;
  return {
    async handshake() {
      const { port } = server.address() as AddressInfo;
      outcome = connect(port, leaving.signal, share).catch(() => {});
      return await handshake.promise;
    },
    async [Symbol.asyncDispose]() {
      leaving.abort();
      for (const socket of sockets) socket.destroy();
      await outcome;
      server.close();
      await eventually(() => !server.listening);
    },
  };
}

/** Reads so many bytes of a socket, and leaves the rest. */
async function take(socket: Socket, bytes: number): Promise<void> {
  while (socket.read(bytes) === null) await once(socket, 'readable');
}

/** The greeting of a server of protocol 4.1 that offers TLS. */
function mysqlGreeting(): Buffer {
  const capabilities = 0x8_aa09;
  const rest = Buffer.alloc(44);
  rest.writeUInt16LE(capabilities & 0xffff, 13);
  rest.writeUInt16LE(capabilities >>> 16, 18);
  rest.writeUInt8(21, 20);
  const payload = Buffer.concat([Buffer.from('\n11.0.0\0'), rest, Buffer.from('mysql_native_password\0')]);
  return Buffer.concat([Buffer.of(payload.length, 0, 0, 0), payload]);
}
