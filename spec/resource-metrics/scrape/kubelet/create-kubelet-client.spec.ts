import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { ClusterAccess } from '#lib/kubernetes/access/cluster-access.ts';
import {
  createKubeletClient,
  type KubeletConnectionOptions,
} from '#lib/resource-metrics/scrape/kubelet/kubelet-client.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { httpResponse, RawServer, serverCertificate } from '#spec/support/raw-server.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { until } from '#spec/support/until.ts';

const never = new AbortController().signal;
const certificate = serverCertificate('127.0.0.1', 'localhost');

async function setup(options: Partial<KubeletConnectionOptions> = {}) {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const access = {
    tls: { ca: certificate.ca, rejectUnauthorized: true },
    authorization: async () => 'Bearer abc',
  } as unknown as ClusterAccess;
  const client = await createKubeletClient(
    {
      ...{ certificateAuthorityFile: undefined, certificateAuthorityText: undefined },
      ...{ clientCertificateFile: undefined, clientKeyFile: undefined },
      ...{ insecureTls: false, completelyInsecure: false },
      ...{ dialTimeoutMs: 3000, requestTimeoutMs: 10_000, maxResponseBytes: 1024 },
      ...options,
    },
    { access, clock, logger },
  );
  const get = (port: number, host = '127.0.0.1') =>
    client
      .get({ nodeName: 'a', host, port }, '/path', { signal: never, read: String })
      .catch((error: Error & { code?: string }) => error.code ?? error.message);
  return { client, clock, get, logger, [Symbol.asyncDispose]: () => client[Symbol.asyncDispose]() };
}

/** A kubelet that responds with the request line and the credentials. */
async function echoing(tls?: object): Promise<RawServer> {
  return await RawServer.start(
    (socket) =>
      socket.on('data', (data) => {
        const [, by = 'anonymous'] = /^authorization: (.*)\r$/im.exec(String(data)) ?? [];
        socket.write(httpResponse(`${String(data).split(' HTTP')[0]} by ${by}`));
      }),
    tls ? { tls } : {},
  );
}

describe('createKubeletClient', () => {
  it('sends credentials to verified kubelets without a warning', async () => {
    await using server = await echoing(certificate.tls);
    await using system = await setup();
    expect(await system.get(server.port)).to.equal('GET /path by Bearer abc');
    expect(system.logger.lines).to.deep.equal([]);
    await using stranger = await echoing(serverCertificate('127.0.0.1').tls);
    expect(await system.get(stranger.port)).to.equal('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  });

  it('accepts any kubelet if verification is disabled, with a warning', async () => {
    await using server = await echoing(serverCertificate('another').tls);
    await using system = await setup({ insecureTls: true });
    expect(await system.get(server.port)).to.equal('GET /path by Bearer abc');
    expect(
      system.logger.lines.map(({ level, message, fields }) => ({ level, message, fields })),
    ).to.deep.equal([
      {
        level: 'warning',
        message: 'Kubelet TLS verification is disabled: credentials can be intercepted, and responses forged',
        fields: { flag: '--kubelet-insecure-tls' },
      },
    ]);
  });

  it('uses plain HTTP without credentials if configured, with a warning', async () => {
    await using server = await echoing();
    await using system = await setup({ completelyInsecure: true, insecureTls: true });
    expect(await system.get(server.port)).to.equal('GET /path by anonymous');
    expect(
      system.logger.lines.map(({ level, message, fields }) => ({ level, message, fields })),
    ).to.deep.equal([
      {
        level: 'warning',
        message: 'Kubelets are scraped over plain HTTP: responses can be read and modified in transit',
        fields: { flag: '--deprecated-kubelet-completely-insecure' },
      },
    ]);
  });

  it('resolves names in the hosts file', async function () {
    if (!/^127\.0\.0\.1\s.*\blocalhost\b/m.test(readFileSync('/etc/hosts', 'utf8'))) this.skip();
    await using server = await echoing(certificate.tls);
    await using system = await setup();
    expect(await system.get(server.port, 'localhost')).to.equal('GET /path by Bearer abc');
  });

  it('limits handshake, response time and response length', async () => {
    await using silent = await RawServer.start((socket) => socket.resume());
    await using dialling = await setup();
    const dialled = dialling.get(silent.port);
    await until(dialling.clock, () => dialling.clock.sleeperCount === 3); // request, handshake and its permit
    await dialling.clock.advance(3000);
    expect(await dialled).to.equal('no TLS handshake within 3s');
    await using system = await setup({ completelyInsecure: true });
    const response = system.get(silent.port);
    await until(system.clock, () => (silent.sockets[1]?.bytesRead ?? 0) > 0);
    await system.clock.advance(10_000);
    expect(await response).to.equal('no complete response within 10s');
    await using talkative = await RawServer.start((socket) =>
      socket.on('data', () => socket.write(httpResponse('x'.repeat(1025)))),
    );
    expect(await system.get(talkative.port)).to.equal(
      'the response is larger than 1Ki (--kubelet-max-response-bytes)',
    );
  });

  it('limits handshakes to sixteen, and starts the next when a permit expires', async () => {
    const greeted = new Set<number>();
    await using silent = await RawServer.start((socket, index) =>
      socket.on('data', () => greeted.add(index)),
    );
    await using system = await setup();
    const response = Array.from({ length: 20 }, () => system.get(silent.port));
    await until(system.clock, () => silent.sockets.length === 20 && greeted.size >= 16);
    for (let tick = 0; tick < 20; tick++) await system.clock.advance(0);
    expect(greeted.size).to.equal(16);
    await system.clock.advance(250);
    await until(system.clock, () => greeted.size === 20);
    await system.clock.advance(3000);
    for (const message of await Promise.all(response)) expect(message).to.equal('no TLS handshake within 3s');
  });

  it('closes connections to kubelets that are gone, and all at disposal', async () => {
    await using one = await echoing();
    await using two = await echoing();
    const system = await setup({ completelyInsecure: true });
    for (const { port } of [one, two]) await system.get(port);
    await system.client.retain(new Set([`127.0.0.1:${two.port}`]));
    await until(system.clock, () => one.openSockets.length === 0);
    expect(two.openSockets).to.have.length(1);
    await system.client[Symbol.asyncDispose]();
    await until(system.clock, () => two.openSockets.length === 0);
  });

  it('names a file that cannot be used, and watches none afterwards', async () => {
    const certificateAuthorityFile = '/nowhere/ca.crt';
    const refused = await setup({ certificateAuthorityFile }).then(() => '', describeError);
    expect(refused).to.match(/^Cannot use --kubelet-certificate-authority in \/nowhere\/ca\.crt/);
    await using insecure = await setup({ certificateAuthorityFile, completelyInsecure: true });
    expect(insecure.logger.lines).to.have.length(1); // plain HTTP does not read the file
  });
});
