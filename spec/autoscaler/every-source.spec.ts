import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AutoscalerSystem, startAutoscalerSystem } from '#spec/support/autoscaler-system.ts';
import { eventually } from '#spec/support/eventually.ts';
import { freePort } from '#spec/support/free-port.ts';
import { LoopbackServer, type ReceivedRequest } from '#spec/support/loopback-server.ts';
import { externalMetric, hpaObject, objectMetric } from '#spec/support/scaled-hpas.ts';
import { SqsEmulator } from '#spec/support/sqs-emulator.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

const WEIGHTS = 'zalando.org/backend-weights';
const INGRESS = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'shop' };
const EXTERNAL = '/apis/external.metrics.k8s.io/v1beta1/namespaces/default';
const CUSTOM = '/apis/custom.metrics.k8s.io/v1beta2/namespaces/default';

/** The documented response of each source's server, by the end of the path. */
const RESPONSES: readonly (readonly [string, string])[] = [
  ['/stats', '{"items":[{"partitions":[{"unconsumed_events":5,"consumer_lag_seconds":7}]}]}'],
  ['/orders', '{"open": 40, "late": 2}'],
  ['/api/v2/query', '#datatype,string,long,double\r\n,result,table,_value\r\n,_result,0,1.5\r\n'],
  ['/datapoints/query', '{"queries":[{"results":[{"values":[[1767225600000,9.25]]}]}]}'],
];
const PROMETHEUS = (value: number) =>
  JSON.stringify({ status: 'success', data: { resultType: 'scalar', result: [1767225600, String(value)] } });
/** By a part of the query. */
const QUERIES: readonly (readonly [string, number])[] = [
  ['host=~"a-b_example_org"}[1m])) * 0.2500', 30],
  ['host=~"www_example_org"}[1m])) * 1.0000', 12],
  ['queue_depth', 11],
  ['of_another_server', 13],
];

/** Every source: the metric, the collector's configuration, the served value. */
const METRICS: readonly (readonly [string, object, value: string])[] = [
  ['depth', { collector: 'prometheus', query: 'queue_depth' }, '11'],
  ['other', { collector: 'prometheus', query: 'of_another_server', 'prometheus-server-alias': 'b' }, '13'],
  ['visitors', { collector: 'requests-per-second', hostnames: 'www.example.org' }, '12'],
  ['rows', { collector: 'influxdb', query: 'from(bucket: "b")' }, '1500m'],
  [
    'own-rows',
    { collector: 'influxdb', query: 'x', org: 'o', address: 'URL', token: 'S-influxdb-own' },
    '1500m',
  ],
  ['tenant-rows', { collector: 'influxdb', query: 'x', org: 't', token: 'S-influxdb-tenant' }, '1500m'],
  ['jobs', { collector: 'sqs-queue-length', 'queue-name': 'jobs', region: 'eu-central-1' }, '3'],
  ['check', { collector: 'zmon', 'check-id': '7' }, '9250m'],
  ['events', { collector: 'nakadi', 'metric-type': 'unconsumed-events', 'subscription-id': 's' }, '5'],
  ['orders', { collector: 'json-path', endpoint: 'URL/orders', 'json-eval': '$.open + $.late' }, '42'],
];
/** Unreachable: no server listens there. */
const DATABASE = { system: 'postgres', host: '127.0.0.1', port: 1, user: 'reader', database: 'shop' };

describe('the autoscaler, with every source', () => {
  const stack = new AsyncDisposableStack();
  let system: AutoscalerSystem;
  let autoscaler: string;
  let sources: LoopbackServer;
  let areFailing = false;

  before(async () => {
    sources = stack.use(
      await LoopbackServer.start((request, response) => {
        if (areFailing) refuse(request, response);
        else response.end(bodyFor(request));
      }),
    );
    const sqs = stack.use(await SqsEmulator.start());
    const queue = await sqs.createQueue('jobs');
    for (let sent = 0; sent < 3; sent++) await sqs.send(queue);
    const directory = stack.use(await TemporaryDirectory.create());
    const file = { ...DATABASE, password: 'S-database' };
    const database = await directory.write('database.yaml', JSON.stringify(file), { mode: 0o600 });
    const token = await directory.write('token', 'S-prometheus-token', { mode: 0o600 });
    const port = await freePort();
    autoscaler = `https://127.0.0.1:${port}`;
    const { host, origin } = sources.url;
    system = stack.use(
      await startAutoscalerSystem({
        env: {
          AWS_ENDPOINT_URL_SQS: sqs.url.href,
          AWS_ACCESS_KEY_ID: 'key',
          AWS_SECRET_ACCESS_KEY: 'S-aws',
          AWS_CONFIG_FILE: join(directory.path, 'none'),
          AWS_SHARED_CREDENTIALS_FILE: join(directory.path, 'none'),
        },
        flags: [
          `--secure-port=${port}`,
          '--controllers=cronhpa',
          '--allowed-hosts=127.0.0.0/8',
          `--prometheus-server=http://me:S-prometheus-url@${host}`,
          `--additional-prometheus-server=b=${origin}`,
          `--additional-prometheus-server-token-file=b=${token}`,
          '--skipper-ingress-metrics',
          `--skipper-backends-annotation=${WEIGHTS}`,
          '--external-rps-metrics',
          ...[`--influxdb-address=${origin}`, '--influxdb-token=S-influxdb', '--influxdb-org=o'],
          ...[`--zmon-kariosdb-endpoint=${origin}`, `--nakadi-endpoint=${origin}`, '--token=S-oauth2'],
          ...['--aws-external-metrics', '--aws-region=eu-central-1'],
          `--sql-source=shop=${database}`,
        ],
      }),
    );
    await apply(ingress(), hpa(), broken());
  });
  after(() => stack.disposeAsync());

  for (const [name, { collector }, value] of METRICS as readonly (readonly [string, Named, string])[])
    it(`serves ${name} of collector ${collector}`, async () => {
      const [item] = (await untilServed(`${EXTERNAL}/${name}`)).items;
      expect(item).to.include({ metricName: name, value });
    });

  it('serves the requests of a backend of an Ingress behind Skipper', async () => {
    const path = `${CUSTOM}/ingresses.networking.k8s.io/shop/requests-per-second`;
    const [item] = (await untilServed(path)).items;
    expect(item).to.include({ value: '30' });
  });

  it('counts the requests of each source under its host or name', async () => {
    const { host } = sources.url;
    await eventually(async () => {
      const series = await get('/metrics');
      return (
        [host, 'sqs.eu-central-1'].every((source) =>
          new RegExp(
            `^autoscaler_source_requests_total\\{source="${source}",result="success"\\} [1-9]`,
            'm',
          ).test(series),
        ) && /^autoscaler_source_requests_total\{source="shop",result="error"\} [1-9]/m.test(series)
      );
    });
    expect(await get('/metrics')).not.to.include('source="other"');
  });

  it('exposes no secret of a source, on success and failure', async () => {
    const shown = sources.requests.flatMap(({ headers }) => headers.authorization ?? []);
    const basic = Buffer.from('me:S-prometheus-url').toString('base64');
    expect(new Set(shown)).to.include.members([
      ...[`Basic ${basic}`, 'Bearer S-prometheus-token', 'Bearer S-oauth2'],
      ...['Token S-influxdb', 'Token S-influxdb-own', 'Token S-influxdb-tenant'],
    ]);
    areFailing = true;
    await eventually(async () => {
      const { collected } = await debug();
      return collected.every(({ collector, error }) => collector === 'sqs-queue-length' || error);
    });
    const reported = [
      ...system.autoscaler.output,
      JSON.stringify(await debug()),
      await get('/metrics'),
      await kubectl('get', 'events', '--all-namespaces', '--output=yaml'),
    ].join('\n');
    expect(reported).to.include('CreateNewMetricsCollector').and.to.include('status 401');
    for (const secret of ['S-', basic])
      expect(reported.split('\n').filter((line) => line.includes(secret))).to.deep.equal([]);
  });

  function hpa(): object {
    const list = METRICS.map(([metric, settings]) => {
      const here = JSON.stringify({ type: 'External', metric, interval: '1s', ...settings });
      const { protocol, host } = sources.url;
      return here.replace('URL', `${protocol}//me:S-endpoint@${host}`);
    });
    const lost = { type: 'External', metric: 'lost', collector: 'sql', source: 'shop', query: 'SELECT 1' };
    return hpaObject({
      annotations: {
        'metric-config/collectors': `[${[...list, JSON.stringify({ ...lost, interval: '1s' })].join()}]`,
        'metric-config.object.requests-per-second.skipper/backend': 'blue',
        'metric-config.object.requests-per-second.skipper/interval': '1s',
      },
      metrics: [
        ...[...METRICS.map(([name]) => name), 'lost'].map((name) => externalMetric(name)),
        average(objectMetric('requests-per-second', INGRESS)),
      ],
    });
  }

  async function untilServed(path: string): Promise<Values> {
    let values: Values = { items: [] };
    await eventually(async () => {
      values = JSON.parse(await get(path));
      return values.items.length > 0;
    });
    return values;
  }

  async function debug(): Promise<Debug> {
    return JSON.parse(await get('/debug/metrics'));
  }

  /** Sends a request directly to the autoscaler, without an aggregator. */
  async function get(path: string): Promise<string> {
    return await kubectl(`--server=${autoscaler}`, '--insecure-skip-tls-verify', 'get', '--raw', path);
  }

  async function kubectl(...args: readonly string[]): Promise<string> {
    const { exitStatus, stdout, stderr } = await system.kubectl.run(args);
    if (exitStatus !== 0) throw new Error(`kubectl ${args.join(' ')} fails: ${stderr}`);
    return stdout;
  }

  async function apply(...objects: readonly object[]): Promise<void> {
    const directory = stack.use(await TemporaryDirectory.create());
    const documents = objects.map((object) => JSON.stringify(object)).join('\n');
    await kubectl('apply', '--filename', await directory.write('objects.json', documents));
  }
});

interface Named {
  readonly collector: string;
}

interface Values {
  readonly items: readonly object[];
}

interface Debug {
  readonly collected: readonly { readonly collector: string; readonly error?: string }[];
}

function bodyFor({ url, body }: ReceivedRequest): string | undefined {
  if (!url.pathname.endsWith('/api/v1/query'))
    return RESPONSES.find(([end]) => url.pathname.endsWith(end))?.[1];
  const query = new URLSearchParams(body).get('query') ?? '';
  const [, value = 0] = QUERIES.find(([part]) => query.includes(part)) ?? [];
  return PROMETHEUS(value);
}

/** Responds like a server whose errors contain secrets. */
function refuse({ headers }: ReceivedRequest, response: ServerResponse): void {
  const { authorization = '' } = headers;
  const [, word = ''] = authorization.split(' ');
  const error = `${authorization} is wrong, ${Buffer.from(word, 'base64')}`;
  response.statusCode = 401;
  response.end(JSON.stringify({ status: 'error', error, message: error }));
}

function ingress(): object {
  const metadata = { name: 'shop', namespace: 'default', annotations: { [WEIGHTS]: '{"blue": 25}' } };
  const backend = { service: { name: 'shop', port: { number: 80 } } };
  const paths = [{ path: '/', pathType: 'Prefix', backend }];
  return {
    ...{ apiVersion: INGRESS.apiVersion, kind: INGRESS.kind, metadata },
    spec: { rules: [{ host: 'a-b.example.org', http: { paths } }] },
  };
}

/** An HPA with only invalid settings, each of which contains a secret. */
function broken(): object {
  const list = [
    { metric: 'a', collector: 'json-path', endpoint: 'ftp://me:S-broken@host', 'json-key': '$' },
    { metric: 'b', collector: 'prometheus', 'prometheus-server': 'me:S-broken@host', query: 'up' },
    { metric: 'c', collector: 'influxdb', query: 'x', token: 'S-broken', address: 'http://a' },
    { metric: 'd', collector: 'influxdb', query: 'x', token: 'S-broken of two words', address: 'http://a' },
  ].map((one) => ({ type: 'External', ...one }));
  return hpaObject({
    name: 'broken',
    annotations: { 'metric-config/collectors': JSON.stringify(list) },
    metrics: list.map(({ metric }) => externalMetric(metric)),
  });
}

function average(metric: object): object {
  const { object } = metric as { readonly object: object };
  return { ...metric, object: { ...object, target: { type: 'AverageValue', averageValue: '10' } } };
}
