import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { InfluxdbAccount } from '#lib/metrics-adapter/collectors/influxdb-collector.ts';
import { type NamedSources, namedSources } from '#lib/metrics-adapter/named-sources.ts';
import { openTlsFolder } from '#lib/sources/http/http-credentials.ts';
import type { Query } from '#lib/sources/query.ts';
import { elapseUntil } from '#spec/support/elapse-until.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

const signal = new AbortController().signal;
const HOST = { subject: { commonName: 'source' }, usages: ['serverAuth'], names: ['localhost'] } as const;

const NO_CREDENTIALS = { organization: undefined, token: undefined };
/** Every HTTP source of the flags, by its name in `--source-tls`, with its credentials besides a certificate. */
const SOURCES: Readonly<Record<string, readonly [(sources: NamedSources) => Query | undefined, string]>> = {
  prometheus: [({ server }) => server?.query('up'), `Basic ${Buffer.from('me:secret').toString('base64')}`],
  'prometheus/eu': [({ additionalServers }) => additionalServers.get('eu')?.query('up'), 'Bearer first'],
  influxdb: [({ influxdb }) => influxdb?.(NO_CREDENTIALS).query('from(b)'), 'Token influx'],
  zmon: [
    ({ zmon }) => zmon?.query({ checkId: 1, key: 'a', tags: {}, durationMs: 1_000, aggregators: ['last'] }),
    'Bearer oauth2',
  ],
  nakadi: [({ nakadi }) => nakadi?.query('unconsumed-events', { id: 'a' }), 'Bearer oauth2'],
};

describe('namedSources', () => {
  for (const [name, [queryOf, authorization]] of Object.entries(SOURCES))
    it(`shows ${name} a client certificate that rotates, beside its other credentials, and trusts its authority`, async () => {
      await using system = await setUp();
      await using named = await system.open(name);
      const query = queryOf(named.sources);
      await query?.run(signal).catch(() => {}); // the response does not matter
      expect(system.shown()).to.deep.equal(['first', authorization]);
      await system.writeCertificate('second');
      await elapseUntil(system.clock, 5_000, async () => {
        await query?.run(signal).catch(() => {});
        return system.shown()[0] === 'second';
      });
      expect(system.shown()).to.deep.equal(['second', authorization]);
      await using strange = await system.open();
      expect(await errorOf(queryOf(strange.sources)?.run(signal) ?? Promise.resolve())).to.match(
        /certificate/,
      );
    });
});

describe('namedSources, of InfluxDB', () => {
  it('sends the token and organization of the metric, with the shared client certificate', async () => {
    await using system = await setUp();
    await using named = await system.open('influxdb');
    const request = async (own: InfluxdbAccount) => {
      await named.sources
        .influxdb?.(own)
        .query('from(b)')
        .run(signal)
        .catch(() => {});
      return [...system.shown(), system.requested()?.searchParams.get('org')];
    };
    expect(await request({ ...NO_CREDENTIALS, token: 'own' })).to.deep.equal(['first', 'Token own', 'o']);
    expect(await request({ organization: 'tenant', token: 'theirs' })).to.deep.equal([
      ...['first', 'Token theirs', 'tenant'],
    ]);
    expect(await request({ ...NO_CREDENTIALS, organization: 'tenant' })).to.deep.equal([
      ...['first', 'Token influx', 'tenant'],
    ]);
  });
});

describe('openTlsFolder', () => {
  it('names the flag and the source of a missing folder', async () => {
    await using system = await setUp();
    await rm(system.folder, { recursive: true });
    expect(await errorOf(system.open('prometheus'))).to.equal(
      `Cannot use --source-tls of "prometheus": ${system.folder} does not exist or is not readable`,
    );
  });

  it('refuses a folder that has nothing of it, or half of a pair, naming the folder', async () => {
    await using system = await setUp();
    await rm(join(system.folder, 'tls.key'));
    expect(await errorOf(openTlsFolder(system.folder, system))).to.equal(
      `${system.folder} must have both tls.crt and tls.key, or neither`,
    );
    await rm(join(system.folder, 'tls.crt'));
    await using authority = await openTlsFolder(system.folder, system);
    expect(Object.keys(authority.current)).to.include('ca');
    await rm(join(system.folder, 'ca.crt'));
    expect(await errorOf(openTlsFolder(system.folder, system))).to.equal(
      `${system.folder} must have ca.crt, or tls.crt and tls.key, or all three`,
    );
  });
});

async function setUp() {
  const stack = new AsyncDisposableStack();
  const authority = new TestAuthority('authority');
  const server = stack.use(
    await LoopbackServer.start((_, response) => void response.setHeader('connection', 'close').end('{}'), {
      ...authority.leaf(HOST),
      ...{ ca: authority.pem, requestCert: true },
    }),
  );
  const directory = stack.use(await TemporaryDirectory.create());
  const folder = join(directory.path, 'tls');
  await mkdir(folder);
  await writeFile(join(folder, 'ca.crt'), authority.pem);
  const environment = { clock: new ManualClock(), logger: new RecordingLogger() };
  const writeCertificate = async (commonName: string) => {
    const { cert, key } = authority.leaf({ subject: { commonName } });
    await writeFile(join(folder, 'tls.crt'), cert);
    await writeFile(join(folder, 'tls.key'), key);
  };
  await writeCertificate('first');
  const tokenFile = await directory.write('token', 'first');
  const url = `https://localhost:${server.port}`;
  const endpoint = { url, token: 'oauth2', credentialsFolder: '', tokenName: '' };
  return {
    ...{ ...environment, folder, writeCertificate },
    shown: () => [server.requests.at(-1)?.peerName, server.requests.at(-1)?.headers.authorization],
    requested: () => server.requests.at(-1)?.url,
    /** @param name of the source that has certificates; by default none */
    async open(name?: string) {
      const owned = new AsyncDisposableStack();
      const options = {
        prometheus: { url: url.replace('//', '//me:secret@'), tokenFile: undefined },
        additionalPrometheus: new Map([['eu', { url, tokenFile }]]),
        influxdb: { address: url, token: 'influx', organization: 'o' },
        ...{ zmon: endpoint, nakadi: endpoint, awsRegions: undefined },
        sourceTls: new Map(name === undefined ? [] : [[name, folder]]),
      };
      const network = { userAgent: 'spec', findAddresses: async () => ['127.0.0.1'] };
      const sources = await namedSources(options, { ...environment, ...network, stack: owned });
      return { sources, [Symbol.asyncDispose]: () => owned.disposeAsync() };
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
