import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import net, { type AddressInfo } from 'node:net';
import { expect } from 'chai';
import { HttpClient, type HttpClientOptions } from '#lib/sources/http/http-client.ts';
import { openCredentials } from '#lib/sources/http/http-credentials.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

const LOOPBACK = new AllowedHosts(['127.0.0.0/8']);
const FOREVER = new AbortController().signal;

describe('HttpClient', () => {
  it('reads the body of a response with status 200', async () => {
    await using server = await LoopbackServer.start((_, response) => void response.end('42'));
    await using client = clientOf();
    expect(String(await client.read({ url: new URL('/a?b=c', server.url) }, FOREVER))).to.equal('42');
    expect(server.requests[0]?.url.search).to.equal('?b=c');
    expect(server.requests[0]?.headers['user-agent']).to.equal('spec');
  });

  it('is identified by its credentials, and by none without', async () => {
    await using without = clientOf();
    await using client = clientOf({ credentials: { name: 'a', current: {} } });
    expect([without.credentialName, client.credentialName]).to.deep.equal(['', 'a']);
  });

  it('refuses every other status, and follows no redirect', async () => {
    await using server = await LoopbackServer.start(({ url }, response) => {
      response.writeHead(url.pathname === '/moved' ? 302 : 204, { location: '/' }).end();
    });
    await using client = clientOf();
    expect(await errorOf(client.read({ url: new URL('/moved', server.url) }, FOREVER))).to.equal(
      `Cannot query 127.0.0.1:${server.port}: status 302 (redirects are not followed)`,
    );
    expect(await errorOf(client.read({ url: server.url }, FOREVER))).to.match(/status 204$/);
    expect(server.requests.map(({ url }) => url.pathname)).to.deep.equal(['/moved', '/']);
  });

  it('reads no more than it is let', async () => {
    await using server = await LoopbackServer.start((_, response) => void response.end('x'.repeat(1001)));
    await using client = clientOf();
    expect(await errorOf(client.read({ url: server.url, maxBytes: 1000 }, FOREVER))).to.match(
      /^Cannot query 127\.0\.0\.1:\d+: the response is longer than 1000 bytes$/,
    );
    expect((await client.read({ url: server.url, maxBytes: 1001 }, FOREVER)).length).to.equal(1001);
  });

  it('waits for a response no longer than it is let, by its clock', async () => {
    const requested = Promise.withResolvers<void>();
    await using server = await LoopbackServer.start(() => requested.resolve());
    const clock = new ManualClock();
    await using client = clientOf({ clock });
    const error = errorOf(client.read({ url: server.url, timeoutMs: 5000 }, FOREVER));
    await requested.promise;
    await clock.advance(5000);
    expect(await error).to.match(/^Cannot query 127\.0\.0\.1:\d+: no response within 5s$/);
    expect(clock.sleeperCount).to.equal(0);
  });

  it('waits for a TLS connection no longer than its timeout, by its clock', async () => {
    await using silent = net.createServer((socket) => void socket.on('error', () => {}).resume());
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    const { port } = silent.address() as AddressInfo;
    const clock = new ManualClock();
    await using client = clientOf({ clock, connectTimeoutMs: 1e9 });
    let error: string | undefined;
    const connected = once(silent, 'connection');
    const failed = errorOf(client.read({ url: new URL(`https://127.0.0.1:${port}`) }, FOREVER)).then(
      (found) => {
        error = found;
      },
    );
    await connected;
    await clock.advance(1e9 - 1);
    expect(error).to.equal(undefined);
    await clock.advance(1);
    await failed;
    expect(error).to.equal(`Cannot query 127.0.0.1:${port}: no connection within 277h46m40s`);
  });

  it('throws the reason of a signal that aborts', async () => {
    const requested = Promise.withResolvers<void>();
    await using server = await LoopbackServer.start(() => requested.resolve());
    await using client = clientOf();
    const leaving = new AbortController();
    const error = errorOf(client.read({ url: server.url }, leaving.signal));
    await requested.promise;
    leaving.abort(new Error('gone'));
    expect(await error).to.equal('gone');
  });

  it('dials no address that is not allowed, however it is named', async () => {
    await using server = await LoopbackServer.start((_, response) => void response.end('secret'));
    const findAddresses = async () => ['127.0.0.1', '::1'];
    await using client = clientOf({ allowedHosts: new AllowedHosts([]), findAddresses });
    for (const host of ['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '0.0.0.0']) {
      const url = new URL(`http://${host}:${server.port}/`);
      expect(await errorOf(client.read({ url }, FOREVER)), host).to.match(/is not allowed/);
    }
    expect(server.requests).to.deep.equal([]);
  });

  it('judges a name by the address that it dials, at each connection', async () => {
    await using server = await LoopbackServer.start((_, response) => {
      response.setHeader('connection', 'close').end('x');
    });
    let addresses = ['127.0.0.1'];
    const findAddresses = async () => addresses;
    const allowedHosts = new AllowedHosts(['127.0.0.1']);
    await using client = clientOf({ allowedHosts, findAddresses });
    const url = new URL(`http://metrics.example:${server.port}/?token=hidden`);
    expect(String(await client.read({ url }, FOREVER))).to.equal('x');
    addresses = ['127.0.0.2'];
    expect(await errorOf(client.read({ url }, FOREVER))).to.equal(
      `Cannot query metrics.example:${server.port}: metrics.example is not allowed: its address (loopback) is refused unless --allowed-hosts lists it or its range`,
    );
    addresses = [...addresses, '127.0.0.1'];
    expect(String(await client.read({ url }, FOREVER))).to.equal('x');
  });

  it('sends a rotated token, and never reveals it', async () => {
    await using directory = await TemporaryDirectory.create();
    const tokenFile = await directory.write('token', 'first\n');
    const clock = new ManualClock();
    const logger = new RecordingLogger();
    await using credentials = await openCredentials({ tokenFile }, { clock, logger });
    await using server = await LoopbackServer.start((_, response) => void response.writeHead(401).end());
    await using client = clientOf({ clock, credentials });
    const error = await errorOf(client.read({ url: server.url }, FOREVER));
    await writeFile(tokenFile, 'second');
    await clock.advance(5000);
    await until(() => credentials.current.authorization === 'Bearer second');
    await errorOf(client.read({ url: server.url }, FOREVER));
    expect(server.requests.map(({ headers }) => headers.authorization)).to.deep.equal([
      'Bearer first',
      'Bearer second',
    ]);
    expect(`${error} ${JSON.stringify(logger.lines)} ${client.credentialName}`).not.to.match(/first|second/);
  });

  it('trusts the authority it is given, and shows its certificate', async () => {
    const [authority, other] = [new TestAuthority('authority'), new TestAuthority('other')];
    await using directory = await TemporaryDirectory.create();
    const client = authority.leaf({ subject: { commonName: 'collector' } });
    const files = {
      caFile: await directory.write('ca.crt', authority.pem),
      certFile: await directory.write('tls.crt', client.cert),
      keyFile: await directory.write('tls.key', client.key),
    };
    const host = {
      subject: { commonName: 'server' },
      usages: ['serverAuth'],
      names: ['localhost'],
    } as const;
    const serving = authority.leaf(host);
    await using server = await LoopbackServer.start((_, response) => void response.end('x'), {
      ...serving,
      ca: authority.pem,
      requestCert: true,
    });
    const environment = { clock: new ManualClock(), logger: new RecordingLogger() };
    const url = new URL(`https://localhost:${server.port}`);
    await using trusted = await openCredentials(files, environment);
    const findAddresses = async () => ['127.0.0.1'];
    await using pending = clientOf({ credentials: trusted, findAddresses });
    expect(String(await pending.read({ url }, FOREVER))).to.equal('x');
    expect(server.requests[0]?.peerName).to.equal('collector');
    await using stranger = await openCredentials(
      { caFile: await directory.write('o', other.pem) },
      environment,
    );
    await using distrusting = clientOf({ credentials: stranger, findAddresses });
    expect(await errorOf(distrusting.read({ url }, FOREVER))).to.match(/certificate/);
  });
});

describe('openCredentials', () => {
  const environment = { clock: new ManualClock(), logger: new RecordingLogger() };

  it('refuses a token of several lines, naming its file alone', async () => {
    await using directory = await TemporaryDirectory.create();
    const tokenFile = await directory.write('token', 'a\nb: c');
    const error = await errorOf(openCredentials({ tokenFile }, environment));
    expect(error).to.equal(
      `Cannot use the credentials in ${tokenFile}: the token must be one word of printable ASCII`,
    );
  });

  it('refuses invalid certificates and keys, and those that do not match, without quoting them', async () => {
    await using directory = await TemporaryDirectory.create();
    const authority = new TestAuthority('a');
    const [one, other] = [authority.leaf(), authority.leaf()];
    const write = async (text: string) => await directory.write('file', text);
    const pair = async (cert: string, key: string) => ({
      certFile: await directory.write('tls.crt', cert),
      keyFile: await directory.write('tls.key', key),
    });
    for (const [files, rule] of [
      [{ caFile: await write('hidden') }, 'the CA certificate must be in PEM'],
      [await pair('hidden', one.key), 'the client certificate must be in PEM'],
    ] as const)
      expect(await errorOf(openCredentials(files, environment))).to.match(new RegExp(`: ${rule}$`));
    expect(await errorOf(openCredentials(await pair(one.cert, 'hidden'), environment))).to.match(
      /: the key must be a private key in PEM, without a passphrase$/,
    );
    expect(await errorOf(openCredentials(await pair(one.cert, other.key), environment))).to.match(
      /: the client certificate and the key do not match$/,
    );
  });

  it('refuses a certificate without its key', async () => {
    expect(await errorOf(openCredentials({ certFile: 'a' }, environment))).to.match(/must be set together/);
  });
});

function clientOf(options: Partial<HttpClientOptions> = {}): HttpClient {
  return new HttpClient({ clock: new ManualClock(), allowedHosts: LOOPBACK, userAgent: 'spec', ...options });
}

async function errorOf(promise: Promise<unknown>): Promise<string> {
  return await promise.then(
    () => 'no error',
    (error: unknown) => describeError(error),
  );
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
