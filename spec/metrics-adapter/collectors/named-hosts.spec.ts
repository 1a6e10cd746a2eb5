import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { readScaledHpa } from '#lib/metrics-adapter/collected-metrics.ts';
import { httpCollector } from '#lib/metrics-adapter/collectors/http-collector.ts';
import { influxdbCollector } from '#lib/metrics-adapter/collectors/influxdb-collector.ts';
import { prometheusCollector } from '#lib/metrics-adapter/collectors/prometheus-collector.ts';
import { planCollectors } from '#lib/metrics-adapter/plans/plan-collectors.ts';
import { HttpClients } from '#lib/sources/http/http-clients.ts';
import { SqsRegion } from '#lib/sources/http-apis/sqs-queue.ts';
import { AllowedHosts, type FindAddresses } from '#lib/sources/network/allowed-hosts.ts';
import type { Query } from '#lib/sources/query.ts';
import { SQL_SYSTEMS } from '#lib/sources/sql/sql-connection.ts';
import { SqlDatabase } from '#lib/sources/sql/sql-database.ts';
import { systemClock } from '#lib/time/clock.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { externalMetric, readHpaObject } from '#spec/support/scaled-hpas.ts';

const signal = new AbortController().signal;
const ALLOWED = '127.0.0.1';
/** Addresses of this machine in every form, none of which an allowed `127.0.0.1` includes. */
const FORBIDDEN = ['127.0.0.2', '2130706434', '0x7f.2', '[::1]', '[::ffff:127.0.0.2]', '[64:ff9b::7f00:2]'];
const GOOD =
  '{"status":"success","data":{"resultType":"scalar","result":[1767225600,"42"]},' +
  '"QueueUrl":"http://sqs/1/a","Attributes":{"ApproximateNumberOfMessages":"42"}}';
const CSV = ',result,table,_value\r\n,_result,0,42\r\n';

interface Environment {
  readonly clients: HttpClients;
  readonly allowedHosts: AllowedHosts;
  readonly findAddresses: FindAddresses;
  readonly stack: AsyncDisposableStack;
}

/** Every source whose host users set in the cluster, or whose name resolves by an untrusted name server. */
const SOURCES: Readonly<Record<string, (url: URL, environment: Environment) => Query>> = {
  prometheus: (url, { clients }) =>
    planned(prometheusCollector({ server: undefined, additionalServers: new Map(), clients }), {
      'prometheus-server': url.href,
      query: 'up',
    }),
  'json-path': (url, { clients }) =>
    planned(httpCollector({ clients }), { endpoint: url.href, 'json-eval': '42' }),
  influxdb: (url, { clients }) =>
    planned(influxdbCollector({ clients, server: undefined }), {
      ...{ address: url.href, token: 't', org: 'o', query: 'q' },
    }),
  sqs: (url, { clients, stack }) => {
    const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
    const region = new SqsRegion({
      http: clients.find(),
      region: 'eu-central-1',
      endpoint: url,
      credentials,
    });
    return stack.use(region).queueLength({ name: 'a' });
  },
  ...Object.fromEntries(
    SQL_SYSTEMS.map((system) => [
      system,
      ({ hostname, port }: URL, { allowedHosts, findAddresses, stack }: Environment) => {
        const named = { user: 'u', password: 'p', database: 'd', tls: undefined };
        const host = hostname.replaceAll(/[[\]]/g, '');
        const options = { system, host, port: Number(port), ...named, allowedHosts, findAddresses };
        return stack.use(new SqlDatabase(options, { clock: systemClock })).query('SELECT 1');
      },
    ]),
  ),
};
const OVER_HTTP = ['prometheus', 'json-path', 'influxdb', 'sqs'];

describe('the hosts of sources', () => {
  for (const [name, make] of Object.entries(SOURCES)) {
    it(`of ${name} are checked by their address, in any form`, async () => {
      await using system = await setUp();
      for (const host of FORBIDDEN) {
        const query = make(new URL(`http://${host}:${system.server.port}`), system);
        expect(await errorOf(query.run(signal)), host).to.match(/is not allowed/);
      }
      expect(await system.server.connectionCount()).to.equal(0);
    });

    it(`of ${name} are checked again at each connection, whatever DNS returns`, async () => {
      await using system = await setUp();
      const query = make(new URL(`http://source.example:${system.server.port}`), system);
      for (const [address, isRequested] of [
        [ALLOWED, true],
        ['127.0.0.2', false],
        ['::ffff:127.0.0.2', false],
        ['169.254.169.254', false],
        [ALLOWED, true],
      ] as const) {
        system.addresses = [address];
        const before = system.server.requests.length;
        const hangs = isRequested && !OVER_HTTP.includes(name); // the server speaks HTTP, while these wait for another protocol
        const signal = hangs ? AbortSignal.timeout(400) : new AbortController().signal;
        const reported = await query.run(signal).then(() => 'no error', describeAll);
        if (isRequested) expect(reported).not.to.match(/is not allowed/);
        else expect(reported, address).to.match(/source\.example is not allowed/);
        if (OVER_HTTP.includes(name))
          expect(system.server.requests.length > before, reported).to.equal(isRequested);
      }
    });
  }

  for (const name of OVER_HTTP)
    it(`of ${name} are not followed to redirects, which are reported`, async () => {
      await using target = await LoopbackServer.start((_, response) => respond(response));
      await using system = await setUp((response) => {
        response.writeHead(307, { location: target.url.href, connection: 'close' }).end();
      });
      const query = SOURCES[name]?.(system.server.url, system);
      expect(await errorOf(query?.run(signal) ?? Promise.resolve())).to.match(
        /307 \(redirects are not followed\)/,
      );
      expect(system.server.requests).not.to.deep.equal([]);
      expect(target.requests).to.deep.equal([]);
    });
});

async function setUp(send: (response: ServerResponse) => void = respond) {
  const stack = new AsyncDisposableStack();
  const server = stack.use(
    await LoopbackServer.start(({ url }, response) => {
      response.setHeader('connection', 'close'); // so that each request opens a connection
      if (url.pathname.endsWith('/api/v2/query') && send === respond) response.end(CSV);
      else send(response);
    }),
  );
  const allowedHosts = new AllowedHosts([ALLOWED]);
  const system = {
    ...{ server, allowedHosts, stack },
    addresses: [ALLOWED] as readonly string[],
    findAddresses: async () => system.addresses,
    clients: undefined as unknown as HttpClients,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
  const { findAddresses } = system;
  system.clients = stack.use(
    new HttpClients({ clock: systemClock, allowedHosts, userAgent: 'spec', findAddresses }),
  );
  return system;
}

function respond(response: ServerResponse): void {
  response.setHeader('connection', 'close').end(GOOD);
}

function planned(
  collector: ReturnType<typeof httpCollector>,
  settings: Readonly<Record<string, string>>,
): Query {
  const list = [{ type: 'External', metric: 'm', collector: collector.name, ...settings }];
  const annotations = { 'metric-config/collectors': JSON.stringify(list) };
  const hpa = readScaledHpa(readHpaObject({ annotations, metrics: [externalMetric('m')] }));
  const [one] = hpa ? planCollectors(hpa, [collector]).planned : [];
  if (!one) throw new Error('it is collected');
  return one.query;
}

function describeAll(error: unknown): string {
  return error instanceof Error ? `${error.message}: ${describeAll(error.cause)}` : String(error ?? '');
}
