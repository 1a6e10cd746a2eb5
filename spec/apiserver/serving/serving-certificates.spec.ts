import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { Agent } from 'node:https';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { expect } from 'chai';
import {
  openServingCertificates,
  type ServingCertificatesOptions,
} from '#lib/apiserver/serving/serving-certificates.ts';
import type { TlsSettings } from '#lib/apiserver/serving/tls-context.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { requestHttp1, requestHttp2 } from '#spec/support/api-request.ts';
import { eventually } from '#spec/support/eventually.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const authority = new TestAuthority('servers');

describe('openServingCertificates', () => {
  it('exchanges the certificate while connections go on', async () => {
    await using set = await setUp();
    const { port } = set;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    const request = () => [
      requestHttp1({ port, path: '/livez', agent }),
      requestHttp2({ port, path: '/livez', session }),
    ];
    try {
      expect(await nameShown(port)).to.equal('first');
      await Promise.all(request());
      await set.write('server', 'second');
      await eventually(async () => {
        await set.clock.advance(5_000);
        const responses = await Promise.all(request());
        expect(responses.map(({ status }) => status)).to.deep.equal([200, 200]);
        return (await nameShown(port)) === 'second';
      });
      expect(session.closed).to.equal(false);
      expect(Object.values(agent.freeSockets)).to.have.length(1);
    } finally {
      session.close();
      agent.destroy();
    }
  });

  it('renews a self-signed certificate before it expires, while connections go on', async () => {
    await using directory = await TemporaryDirectory.create();
    const clock = new ManualClock(Date.now());
    await using certificates = await open(directory, { clock });
    await using server = await startTestApiServer({ certificates, clock });
    const { port } = server.address;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    const request = () =>
      Promise.all([
        requestHttp1({ port, path: '/livez', agent }),
        requestHttp2({ port, path: '/livez', session }),
      ]);
    try {
      await request();
      const first = await nameShown(port);
      await clock.jump((365 - 31) * DAY_MS);
      expect(await nameShown(port)).to.equal(first);
      await clock.jump(2 * DAY_MS);
      await eventually(async () => (await nameShown(port)) !== first);
      expect((await request()).map(({ status }) => status)).to.deep.equal([200, 200]);
      expect(session.closed).to.equal(false);
      expect(Object.values(agent.freeSockets)).to.have.length(1);
      await using restarted = await open(directory, { clock });
      expect(restarted.current).to.deep.equal(certificates.current);
    } finally {
      session.close();
      agent.destroy();
    }
  });

  it('uses the certificate that another replica has renewed in the same directory', async () => {
    await using directory = await TemporaryDirectory.create();
    const clock = new ManualClock();
    await using one = await open(directory, { clock });
    const expiring = one.current;
    await clock.jump((365 - 31) * DAY_MS);
    clock.stepWall(2 * DAY_MS);
    await using other = await open(directory, { clock });
    expect(other.current).not.to.deep.equal(expiring);
    expect(one.current).to.deep.equal(expiring);
    await clock.jump(HOUR_MS);
    await eventually(() => one.current.cert === other.current.cert);
    expect(one.current.key).to.equal(other.current.key);
  });

  it('continues with the renewed certificate where it cannot be stored', async () => {
    await using directory = await TemporaryDirectory.create();
    const [clock, logger] = [new ManualClock(), new RecordingLogger()];
    const certDir = await directory.write('file', '');
    await using certificates = await open(directory, { certDir, clock, logger });
    const { cert } = certificates.current;
    await clock.jump(340 * DAY_MS);
    await eventually(() => certificates.current.cert !== cert);
    expect(logger.lines.map(({ message }) => message)).to.include(
      'Cannot store self-signed certificate; the next start generates another',
    );
  });

  it('keeps the certificate while the key does not match', async () => {
    await using set = await setUp();
    const { key } = serverLeaf('other');
    await set.directory.write('server.key', key);
    await set.clock.advance(5_000);
    await eventually(() => set.logger.lines.some(({ level }) => level === 'error'));
    expect(await nameShown(set.port)).to.equal('first');
    await set.write('server', 'second');
    await eventually(async () => {
      await set.clock.advance(5_000);
      return (await nameShown(set.port)) === 'second';
    });
    expect(JSON.stringify(set.logger.lines)).not.to.include('PRIVATE KEY');
  });

  it('presents the certificate for the requested name', async () => {
    await using set = await setUp();
    const { port } = set;
    expect(await nameShown(port, { servername: 'named.example' })).to.equal('named');
    expect(await nameShown(port, { servername: 'NAMED.example' })).to.equal('named');
    expect(await nameShown(port, { servername: 'any.wild.example' })).to.equal('wild');
    expect(await nameShown(port, { servername: 'exact.wild.example' })).to.equal('named');
    expect(await nameShown(port, { servername: 'a.b.wild.example' })).to.equal('first');
    expect(await nameShown(port, { servername: 'own.example' })).to.equal('own');
    expect(await nameShown(port, { servername: 'else.example' })).to.equal('first');
    await set.write('named', 'renamed');
    await eventually(async () => {
      await set.clock.advance(5_000);
      return (await nameShown(port, { servername: 'named.example' })) === 'renamed';
    });
  });

  it('begins with files that belong together', async () => {
    await using directory = await TemporaryDirectory.create();
    const certFile = await directory.write('a.crt', serverLeaf('a').cert);
    const keyFile = await directory.write('b.key', serverLeaf('b').key);
    const failure = await open(directory, { certFile, keyFile }).then(
      () => undefined,
      (error: Error) => error,
    );
    expect(describeError(failure)).to.equal(
      `Cannot use the serving certificate in ${certFile} and ${keyFile}: private key does not match certificate`,
    );
  });
});

describe('TLS of a server', () => {
  it('is of the lowest version or later', async () => {
    await using set = await setUp({ minVersion: 'TLSv1.3', cipherSuites: [], curves: [] });
    expect(await refusal(set.port, { maxVersion: 'TLSv1.2' })).to.match(/alert protocol version/);
    await using socket = await shakeHands(set.port, {});
    expect(socket.tls.getProtocol()).to.equal('TLSv1.3');
  });

  it('is of the chosen cipher suites, by the names that Go calls them', async () => {
    await using set = await setUp({
      minVersion: 'TLSv1.2',
      cipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384'],
      curves: [],
    });
    const tls12 = { maxVersion: 'TLSv1.2' } as const;
    await using socket = await shakeHands(set.port, tls12);
    expect(socket.tls.getCipher().name).to.equal('ECDHE-ECDSA-AES256-GCM-SHA384');
    const other = { ...tls12, ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' };
    expect(await refusal(set.port, other)).to.match(/handshake failure/);
    await using modern = await shakeHands(set.port, {});
    expect(modern.tls.getProtocol()).to.equal('TLSv1.3');
  });

  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
    it(`is of the chosen curves alone, by the numbers that Go calls them, in ${maxVersion}`, async () => {
      await using set = await setUp({ minVersion: 'TLSv1.2', cipherSuites: [], curves: ['24', '25'] });
      for (const [ecdhCurve, bits] of [
        ['P-256:P-384', 384], // P-256 is the curve of the certificate, which TLS 1.2 requires, too
        ['X25519:P-256:P-521', 521],
      ] as const) {
        await using socket = await shakeHands(set.port, { maxVersion, ecdhCurve });
        expect(socket.tls.getEphemeralKeyInfo()).to.deep.include({ type: 'ECDH', size: bits });
      }
      expect(await refusal(set.port, { maxVersion, ecdhCurve: 'X25519:P-256' })).to.match(
        /handshake failure/,
      );
    });

  for (const [number, name] of [
    ['23', 'P-256'],
    ['24', 'P-384'],
    ['25', 'P-521'],
    ['29', 'X25519'],
    ['4587', 'SecP256r1MLKEM768'],
    ['4588', 'X25519MLKEM768'],
    ['4589', 'SecP384r1MLKEM1024'],
  ] as const)
    it(`translates ${number} to ${name}`, async () => {
      await using set = await setUp({ minVersion: 'TLSv1.3', cipherSuites: [], curves: [number] });
      await using socket = await shakeHands(set.port, { ecdhCurve: name });
      expect(socket.tls.getProtocol()).to.equal('TLSv1.3');
    });

  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    it(`resumes no session of ${maxVersion}: clients are verified by all that they show`, async () => {
      await using set = await setUp();
      let session: Buffer | undefined;
      for (let count = 0; count < 2; count++) {
        const options = { maxVersion, ...(session && { session }) };
        await using socket = await shakeHands(set.port, options);
        socket.tls.on('session', (one) => {
          session = one;
        });
        const responded = once(socket.tls, 'data');
        socket.tls.write('GET /livez HTTP/1.1\r\nHost: a\r\n\r\n');
        await responded;
        session ??= socket.tls.getSession();
        expect(socket.tls.isSessionReused()).to.equal(false);
      }
    });
  }

  it('carries no more requests at once on one connection than it may', async () => {
    await using set = await setUp(undefined, 7);
    const session = connectHttp2(`https://127.0.0.1:${set.port}`, { rejectUnauthorized: false });
    try {
      const [settings] = await once(session, 'remoteSettings');
      expect(settings.maxConcurrentStreams).to.equal(7);
    } finally {
      session.close();
    }
  });
});

async function setUp(tls?: TlsSettings, maxStreamsPerConnection = 100) {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await TemporaryDirectory.create());
  const clock = new ManualClock(Date.now());
  const logger = new RecordingLogger();
  const write = async (file: string, commonName: string, names: readonly string[] = []) => {
    const { cert, key } = serverLeaf(commonName, names);
    return {
      keyFile: await directory.write(`${file}.key`, key),
      certFile: await directory.write(`${file}.crt`, cert),
    };
  };
  const files = await write('server', 'first');
  const namedCertificates = [
    { ...(await write('named', 'named')), names: ['named.example', 'exact.wild.example'] },
    { ...(await write('wild', 'wild')), names: ['*.wild.example'] },
    { ...(await write('own', 'own', ['own.example', '127.0.0.9'])), names: [] },
  ];
  const options = { ...files, namedCertificates, clock, logger };
  const certificates = stack.use(await open(directory, options));
  const server = stack.use(
    await startTestApiServer({
      certificates,
      clock,
      logger,
      maxStreamsPerConnection,
      ...(tls && { tls }),
    }),
  );
  const owned = stack.move();
  return {
    directory,
    clock,
    logger,
    write,
    port: server.address.port,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function open(directory: TemporaryDirectory, options: Partial<ServingCertificatesOptions>) {
  return openServingCertificates({
    certDir: directory.path,
    namedCertificates: [],
    clock: new ManualClock(),
    logger: new RecordingLogger(),
    ...options,
  });
}

function serverLeaf(commonName: string, names: readonly string[] = []) {
  return authority.leaf({ subject: { commonName }, usages: ['serverAuth'], names });
}

/** The common name of the certificate that a server sends. */
async function nameShown(port: number, options: ConnectionOptions = {}): Promise<unknown> {
  await using socket = await shakeHands(port, options);
  return socket.tls.getPeerCertificate().subject.CN;
}

async function refusal(port: number, options: ConnectionOptions): Promise<string> {
  return await shakeHands(port, options).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
}

async function shakeHands(
  port: number,
  options: ConnectionOptions,
): Promise<AsyncDisposable & { readonly tls: TLSSocket }> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
  await once(socket, 'secureConnect');
  return {
    tls: socket,
    [Symbol.asyncDispose]: async () => {
      socket.destroy();
      if (!socket.closed) await once(socket, 'close');
    },
  };
}
