import { expect } from 'chai';
import { openTriggerEnvironment } from '#lib/scaled-objects/triggers/trigger-environment.ts';
import { allTriggers, TriggerTypes } from '#lib/scaled-objects/triggers/trigger-registry.ts';
import { systemClock } from '#lib/time/clock.ts';
import { startEchoingSources } from '#spec/support/echoing-sources.ts';
import { everyTrigger } from '#spec/support/every-trigger.ts';
import { collectMessages } from '#spec/support/trigger-messages.ts';

const AMQP = 'amqp://127.0.0.1/';
const HTTP = 'http://127.0.0.1/';
const SQL = { host: 'h', port: '1', userName: 'u', dbName: 'd', sslmode: 'disable' };
const NATS = { natsServerMonitoringEndpoint: 'h:1', stream: 's', consumer: 'c' };
const SQS = { queueURL: 'q', awsRegion: 'eu-central-1', awsAccessKeyID: 'i', awsSecretAccessKey: 's' };
const CRON = { timezone: 'UTC', start: '0 8 * * *', end: '0 9 * * *', desiredReplicas: '1' };
const METRIC_TYPES = "allowed values are 'Utilization' or 'AverageValue'";

/** Triggers that cannot be planned although each parameter is valid, and their errors. */
const REFUSED: readonly (readonly [type: string, metadata: Record<string, string>, error: string])[] = [
  ['prometheus', { serverAddress: HTTP, query: 'q' }, 'missing required parameter "threshold"'],
  [
    'prometheus',
    { serverAddress: 'h', query: 'q', threshold: '1' },
    'parameter "serverAddress" must be a URL',
  ],
  [
    'prometheus',
    { serverAddress: HTTP, query: 'q', awsRegion: 'a' },
    'parameter "awsRegion" is not supported',
  ],
  ['rabbitmq', { host: AMQP, queueName: 'q', value: '1' }, 'mode must be specified'],
  ['rabbitmq', { host: AMQP, queueName: 'q', mode: 'QueueLength' }, 'value must be specified'],
  ['rabbitmq', { host: AMQP, queueName: 'q', mode: 'QueueLength', value: '0' }, 'value must be specified'],
  [
    'rabbitmq',
    { host: AMQP, queueName: 'q', queueLength: '1', value: '1' },
    'queueLength cannot be set together with mode or value',
  ],
  [
    'rabbitmq',
    { host: AMQP, queueName: 'q', mode: 'MessageRate', value: '1' },
    'protocol amqp not supported; must be HTTP to use trigger mode MessageRate',
  ],
  ['rabbitmq', { host: AMQP, queueName: 'q', timeout: '1s' }, 'parameter "timeout" requires protocol http'],
  [
    'rabbitmq',
    { host: AMQP, queueName: 'q', useRegex: 'true' },
    'parameter "useRegex" requires protocol http',
  ],
  ['rabbitmq', { host: 'ftp://h', queueName: 'q' }, 'unknown host URL scheme ftp'],
  [
    'rabbitmq',
    { host: HTTP, queueName: 'q', pageSize: '0' },
    'parameter "pageSize" value "0" must be from 1',
  ],
  ['rabbitmq', { host: HTTP, queueName: 'q', protocol: 'amqp' }, 'must have a scheme of protocol amqp'],
  ['redis', { listName: 'l' }, 'no addresses or hosts given. address should be a comma separated list of'],
  [
    'redis',
    { listName: 'l', hosts: 'a,b', ports: '1' },
    'not enough hosts or ports given. number of hosts should be equal to the number of ports',
  ],
  ['redis', { listName: 'l', address: 'h' }, 'parameter "address" value "h" must be host:port'],
  ['redis-cluster', { listName: 'l', address: 'h:1', databaseIndex: '1' }, 'cannot be set for a cluster'],
  ['redis-sentinel-streams', { stream: 's', address: 'h:1' }, 'missing required parameter "sentinelMaster"'],
  ['postgresql', { ...SQL, query: 'q' }, 'no targetQueryValue given'],
  ['postgresql', { ...SQL, query: 'q', targetQueryValue: '0' }, 'no targetQueryValue given'],
  ...Object.entries({
    host: 'host',
    port: 'port',
    userName: 'username',
    dbName: 'dbname',
    sslmode: 'sslmode',
  }).map(
    ([key, what]) =>
      ['postgresql', { ...SQL, [key]: ' ', query: 'q', targetQueryValue: '1' }, `no ${what} given`] as const,
  ),
  ['mysql', { query: 'q', queryValue: '1' }, 'no host given'],
  ['cron', { ...CRON, start: '* * * *' }, 'error parsing start schedule: expected exactly 5 fields, found 4'],
  ['cron', { ...CRON, end: '@daily' }, 'error parsing end schedule: '],
  ['cron', { ...CRON, timezone: 'Mars/Base' }, 'unable to load timezone: '],
  ['cron', { ...CRON, end: CRON.start }, 'start and end can not have exactly same time input'],
  ['cron', { ...CRON, desiredReplicas: '0' }, 'no desiredReplicas specified'],
  ['cpu', { value: '50' }, `unknown metric type: , ${METRIC_TYPES}`],
  [
    'memory',
    { value: '50', type: 'Utilization' },
    "the 'type' setting is DEPRECATED and is removed in v2.18",
  ],
  ['nats-jetstream', NATS, 'no account name or id given'],
  ['nats-jetstream', { ...NATS, account: 'a', lagThreshold: '0' }, 'must be greater than 0'],
  ['kubernetes-workload', { podSelector: 'a=b' }, 'value must be a float greater than 0'],
  ['kubernetes-workload', { podSelector: 'a=b', value: '-1' }, 'value must be a float greater than 0'],
  ['kubernetes-workload', { podSelector: 'a in', value: '1' }, 'invalid pod selector: '],
  ['external', { scalerAddress: 'h' }, 'parameter "scalerAddress" value "h" must be host:port'],
  ['aws-sqs-queue', { ...SQS, queueURL: 'https://h/q' }, 'cannot get queueName from queueURL'],
  ['aws-sqs-queue', { ...SQS, awsAccessKeyID: '' }, 'awsAccessKeyID not found'],
  ['aws-sqs-queue', { ...SQS, awsSecretAccessKey: '' }, 'awsSecretAccessKey not found'],
  [
    'aws-sqs-queue',
    { ...SQS, awsRegion: 'a/b' },
    'parameter "awsRegion" must be a region such as eu-central-1',
  ],
  ['influxdb', { serverURL: HTTP, query: 'q', organizationName: 'o' }, 'no threshold value given'],
  ['influxdb', { serverURL: HTTP, query: 'q', authToken: 't' }, 'authToken must not be set in the metadata'],
  ['influxdb', { serverURL: HTTP, query: 'q', thresholdValue: '1' }, 'parameter "organizationName"'],
  [
    'influxdb',
    { serverURL: HTTP, query: 'q', thresholdValue: '1', influxVersion: '3', database: 'd' },
    'missing required parameter "metricKey"',
  ],
  [
    'kafka',
    {},
    'no scaler found for type: kafka; supported types are aws-sqs-queue, cpu, cron, external, external-push',
  ],
];

describe('allTriggers', () => {
  it('does not query a forbidden host, and names the flag that allows it', async () => {
    await using echoing = await startEchoingSources('do-not-tell', () => '');
    await using opened = openTriggerEnvironment({
      ...{ clock: systemClock, userAgent: 'spec', allowedHosts: [], timeoutMs: 10_000 },
      listPods: async () => [],
      listEndpoints: async () => [],
      findAddresses: undefined,
    });
    const types = new TriggerTypes(allTriggers(opened));
    for (const [name, source] of Object.entries(echoing.sources)) {
      const reported = await collectMessages(source, { types });
      expect(reported, name).to.match(
        /127\.0\.0\.1 is not allowed: the address \(loopback\) is refused unless --allowed-hosts/,
      );
    }
  });

  it('has the scaler names of KEDA for triggers without a name', () => {
    const names = everyTrigger().flatMap(({ types, scalerName }) =>
      types.map((type) => `${type} ${scalerName(type)}`),
    );
    expect(names.sort()).to.deep.equal([
      'aws-sqs-queue awsSqsQueueScaler',
      'cpu cpuMemoryScaler',
      'cron cronScaler',
      'external externalScaler',
      'external-push externalPushScaler',
      'influxdb influxDBScaler',
      'kubernetes-workload kubernetesWorkloadScaler',
      'memory cpuMemoryScaler',
      'metrics-api metricsAPIScaler',
      'mysql mySQLScaler',
      'nats-jetstream natsJetStreamScaler',
      'postgresql postgreSQLScaler',
      'prometheus prometheusScaler',
      'rabbitmq rabbitMQScaler',
      'redis redisScaler',
      'redis-cluster redisScaler',
      'redis-cluster-streams redisStreamsScaler',
      'redis-sentinel redisScaler',
      'redis-sentinel-streams redisStreamsScaler',
      'redis-streams redisStreamsScaler',
    ]);
  });

  it('reports the violated rule of invalid triggers, as KEDA does', async () => {
    const types = new TriggerTypes(everyTrigger());
    for (const [type, metadata, error] of REFUSED) {
      const reported = await collectMessages({ type, metadata }, { types });
      expect(reported, `${type} ${JSON.stringify(metadata)}`).to.contain(error);
    }
  });
});
