import { expect } from 'chai';
import { NameResolver } from '#lib/dns/name-resolver.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { DnsServer, ipv4, type Zone } from '#spec/support/dns-server.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { PATHS, startScaledObjectsCluster } from '#spec/support/scaled-objects-cluster.ts';

const SQL = { port: '1', dbName: 'd', query: 'q' };
/** Every form of a host in triggers. */
const TRIGGERS: Readonly<Record<string, (host: string) => Record<string, string>>> = {
  prometheus: (host) => ({ serverAddress: `http://${host}`, query: 'q', threshold: '1' }),
  'metrics-api': (host) => ({ url: `http://${host}/`, valueLocation: 'v', targetValue: '1' }),
  'nats-jetstream': (host) => ({
    ...{ natsServerMonitoringEndpoint: `${host}:1`, account: 'a', stream: 's', consumer: 'c' },
    lagThreshold: '1',
  }),
  rabbitmq: (host) => ({ host: `amqp://u:p@${host}:1/`, queueName: 'q', mode: 'QueueLength', value: '1' }),
  redis: (host) => ({ address: `${host}:1`, listName: 'l', listLength: '1' }),
  postgresql: (host) => ({
    ...SQL,
    host,
    userName: 'u',
    password: 'p',
    sslmode: 'disable',
    targetQueryValue: '1',
  }),
  mysql: (host) => ({ ...SQL, host, username: 'u', password: 'p', queryValue: '1' }),
  external: (host) => ({ scalerAddress: `${host}:1` }),
  'external-push': (host) => ({ scalerAddress: `${host}:2` }),
  'aws-sqs-queue': (host) => ({
    ...{ queueURL: 'q', awsRegion: 'eu-central-1', awsEndpoint: `http://${host}`, queueLength: '1' },
    ...{ awsAccessKeyID: 'a', awsSecretAccessKey: 'b' },
  }),
};
const NAMES = Array.from({ length: 50 }, (_, index) => `n${index}.silent.test`);

describe('names whose name server is silent', () => {
  it('do not delay polls of other namespaces', async () => {
    await using stack = new AsyncDisposableStack();
    let pollCount = 0;
    const source = stack.use(
      await LoopbackServer.start((_, response) => {
        pollCount++;
        response.setHeader('connection', 'close').end('{"value":3}'); // so that each poll opens a connection
      }),
    );
    const zone: Zone = {
      ...Object.fromEntries(NAMES.map((name) => [name, 'silence'])),
      'source.test': [ipv4('source.test', '127.0.0.1')],
    };
    using server = await DnsServer.start(zone);
    let resolver: NameResolver | undefined;
    const findAddresses = async (host: string) => (await resolver?.findAddresses(host)) ?? [];
    const cluster = stack.use(await startScaledObjectsCluster({ findAddresses }));
    resolver = new NameResolver({
      ...{ clock: cluster.clock, timeoutMs: 5000, maxConcurrent: 64, servers: [server.address] },
      ...{ hosts: async () => '', resolvConf: async () => '' },
    });
    const types = Object.entries(TRIGGERS);
    const triggers = NAMES.map((host, index) => {
      const [type, metadataOf] = types[index % types.length] ?? [];
      return { type, metadata: metadataOf?.(host) };
    });
    await cluster.deployment('web', 1);
    const { spec } = await cluster.get(`${PATHS.deployments}/web`);
    await cluster.scaledObject('web', { triggers });
    await cluster.lead();
    const lookedUp = () => new Set(server.questions.map((each) => each.split(' ')[1]));
    await cluster.untilMet(() => lookedUp().size === 32); // its share

    const other = (path: string) => path.replace('/default/', '/other/');
    await cluster.create('/api/v1/namespaces', {
      ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'other' } },
    });
    await cluster.create(other(PATHS.deployments), {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec },
    });
    const url = `http://source.test:${source.port}/`;
    const metadata = { url, valueLocation: 'value', targetValue: '1' };
    await cluster.create(other(PATHS.scaledObjects), {
      ...{ apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name: 'web' } },
      spec: {
        scaleTargetRef: { name: 'web' },
        pollingInterval: 15,
        triggers: [{ type: 'metrics-api', metadata }],
      },
    });
    await cluster.untilMet(() => pollCount === 1);
    for (let count = 2; count <= 5; count++) {
      await cluster.elapse(15);
      await cluster.untilMet(() => pollCount === count);
    }
    const selector = parseLabelSelector('scaledobject.keda.sh/name=web');
    const [served] = cluster.store.values('other', { metric: 's0-metric-api-value', selector }) ?? [];
    expect(served?.value).to.equal('3');
    const typeOf = (name = '') => types[NAMES.indexOf(name) % types.length]?.[0] ?? '';
    expect([...new Set([...lookedUp()].map(typeOf))].filter(Boolean).sort()).to.deep.equal(
      Object.keys(TRIGGERS).sort(),
    );
  });
});
