import { expect } from 'chai';
import { metricsApiTrigger } from '#lib/scaled-objects/triggers/metrics-api.ts';
import { prometheusTrigger } from '#lib/scaled-objects/triggers/prometheus.ts';
import { systemClock } from '#lib/time/clock.ts';
import { everyTrigger } from '#spec/support/every-trigger.ts';
import { planned } from '#spec/support/planned-trigger.ts';
import { triggerClients } from '#spec/support/trigger-clients.ts';

type Parameters = Readonly<Record<string, string>>;
interface Requested {
  readonly metadata: Parameters;
  readonly authentication?: Parameters;
  /** Parameters that change the query, in place of existing ones or in addition. */
  readonly others: readonly Parameters[];
  readonly otherLogins?: readonly Parameters[];
  /** Parameters that do not change the query. */
  readonly same: Parameters;
}
const REDIS = {
  otherLogins: [{ username: 'u' }, { password: 'p' }],
  places: [{ address: 'h:2' }, { databaseIndex: '1' }, { enableTLS: 'true' }],
};

const HTTP_LOGINS = [
  ...[
    { authModes: 'bearer', bearerToken: 't' },
    { authModes: 'bearer', bearerToken: 'v' },
  ],
  ...[
    { authModes: 'basic', username: 'u', password: 'p' },
    { authModes: 'basic', username: 'u', password: 'q' },
  ],
];

/** Queries of every trigger type with a source, except those whose server defines the metrics. */
const REQUESTED: Readonly<Record<string, Requested>> = {
  'aws-sqs-queue': {
    metadata: { queueURL: 'q', awsRegion: 'eu-central-1' },
    authentication: { awsAccessKeyID: 'i', awsSecretAccessKey: 's' },
    others: [
      ...[{ queueURL: 'r' }, { awsRegion: 'eu-west-1' }, { awsEndpoint: 'http://127.0.0.1:9' }],
      ...[{ scaleOnInFlight: 'false' }, { scaleOnDelayed: 'true' }],
    ],
    otherLogins: [{ awsAccessKeyID: 'j' }, { awsSecretAccessKey: 't' }],
    same: { queueLength: '9', activationQueueLength: '1' },
  },
  cron: {
    metadata: { timezone: 'UTC', start: '0 8 * * *', end: '0 9 * * *', desiredReplicas: '2' },
    others: [
      ...[{ timezone: 'Europe/Berlin' }, { start: '1 8 * * *' }, { end: '1 9 * * *' }],
      { desiredReplicas: '3' },
    ],
    same: {},
  },
  influxdb: {
    metadata: { serverURL: 'http://h', query: 'q', organizationName: 'o', thresholdValue: '1' },
    others: [
      ...[{ serverURL: 'http://i' }, { query: 'r' }, { organizationName: 'p' }, { unsafeSsl: 'true' }],
      { influxVersion: '3', database: 'd', metricKey: 'm' },
      { influxVersion: '3', database: 'e', metricKey: 'm' },
      { influxVersion: '3', database: 'd', metricKey: 'n' },
      { influxVersion: '3', database: 'd', metricKey: 'm', queryType: 'FlightSQL' },
      { influxVersion: '3', database: 'd', metricKey: 'm', query: 'r' },
    ],
    otherLogins: [{ authToken: 't' }],
    same: { thresholdValue: '2', activationThresholdValue: '1' },
  },
  'kubernetes-workload': {
    metadata: { podSelector: 'a=b', value: '1' },
    others: [{ podSelector: 'a=c' }, { groupByNode: 'true' }],
    same: { value: '2', activationValue: '1' },
  },
  'metrics-api': {
    metadata: { url: 'http://h/', valueLocation: 'a', targetValue: '1' },
    others: [{ url: 'http://h/b' }, { valueLocation: 'b' }, { format: 'yaml' }, { unsafeSsl: 'true' }],
    otherLogins: HTTP_LOGINS,
    same: { targetValue: '2', activationTargetValue: '1' },
  },
  mysql: {
    metadata: { host: 'h', port: '1', username: 'u', dbName: 'd', query: 'q', queryValue: '1' },
    others: [{ host: 'i' }, { port: '2' }, { username: 'v' }, { dbName: 'e' }, { query: 'r' }],
    otherLogins: [{ password: 'p' }],
    same: { queryValue: '2', activationQueryValue: '1' },
  },
  'nats-jetstream': {
    metadata: { natsServerMonitoringEndpoint: 'h:1', account: 'a', stream: 's', consumer: 'c' },
    others: [
      ...[{ natsServerMonitoringEndpoint: 'h:2' }, { account: 'b' }, { stream: 't' }, { consumer: 'd' }],
      { useHttps: 'true' },
    ],
    same: { lagThreshold: '2', activationLagThreshold: '1' },
  },
  postgresql: {
    metadata: {
      ...{ host: 'h', port: '1', userName: 'u', dbName: 'd', sslmode: 'disable' },
      ...{ query: 'q', targetQueryValue: '1' },
    },
    others: [
      ...[{ host: 'i' }, { port: '2' }, { userName: 'v' }, { dbName: 'e' }, { sslmode: 'require' }],
      { query: 'r' },
    ],
    otherLogins: [{ password: 'p' }],
    same: { targetQueryValue: '2', activationTargetQueryValue: '1' },
  },
  prometheus: {
    metadata: { serverAddress: 'http://h', query: 'q', threshold: '1' },
    others: [
      ...[{ serverAddress: 'http://i' }, { query: 'r' }, { namespace: 'n' }, { queryParameters: 'a=b' }],
      ...[{ customHeaders: 'a=b' }, { customHeaders: 'a=c' }, { unsafeSsl: 'true' }],
    ],
    otherLogins: HTTP_LOGINS,
    same: { threshold: '2', activationThreshold: '1' },
  },
  rabbitmq: {
    metadata: { host: 'http://h/', queueName: 'q', mode: 'QueueLength', value: '1' },
    others: [
      ...[{ host: 'http://i/' }, { host: 'amqp://h/' }, { queueName: 'r' }],
      ...[{ vhostName: 'v' }, { excludeUnacknowledged: 'true' }, { unsafeSsl: 'true' }],
      ...[{ useRegex: 'true' }, { useRegex: 'true', operation: 'max' }],
    ],
    otherLogins: [{ username: 'u', password: 'p' }],
    same: { value: '2', activationValue: '1', mode: 'MessageRate' }, // of the same response
  },
  redis: {
    metadata: { address: 'h:1', listName: 'l' },
    others: [{ listName: 'm' }, ...REDIS.places],
    otherLogins: REDIS.otherLogins,
    same: { listLength: '2', activationListLength: '1' },
  },
  'redis-streams': {
    metadata: { address: 'h:1', stream: 's' },
    others: [
      ...[{ stream: 't' }, ...REDIS.places, { consumerGroup: 'g', pendingEntriesCount: '1' }],
      ...[
        { consumerGroup: 'h', pendingEntriesCount: '1' },
        { consumerGroup: 'g', lagCount: '1' },
      ],
    ],
    otherLogins: REDIS.otherLogins,
    same: { streamLength: '2' },
  },
};

describe('queries, by their keys', () => {
  const triggers = everyTrigger();

  it('exist for all triggers with a source', () => {
    const others = ['cpu', 'memory', 'external'];
    const types = triggers.map(({ types: [type = ''] }) => type).filter((type) => !others.includes(type));
    expect(Object.keys(REQUESTED)).to.have.members(types);
  });

  for (const [type, { metadata, authentication = {}, others, otherLogins = [], same }] of Object.entries(
    REQUESTED,
  ))
    it(`of ${type} differ for each change of the query, and for nothing else`, async () => {
      const trigger = triggers.find(({ types }) => types.includes(type));
      if (!trigger) throw new Error(`there is no trigger ${type}`);
      const keyOf = async (more: Parameters, login: Parameters = {}) =>
        (
          await planned(trigger, {
            metadata: { ...metadata, ...more },
            authentication: { ...authentication, ...login },
          })
        ).query.key;
      const keys = [await keyOf({})];
      for (const one of others) keys.push(await keyOf(one));
      for (const one of otherLogins) keys.push(await keyOf({}, one));
      const twice = keys.flatMap((key, index) => (keys.indexOf(key) === index ? [] : [index - 1]));
      expect(twice.map((index) => [...others, ...otherLogins][index])).to.deep.equal([]);
      expect(await keyOf(same)).to.equal(keys[0]);
    });
});

describe('queries that equal triggers share', () => {
  const stack = new AsyncDisposableStack();
  const clients = stack.use(triggerClients());
  const triggers = {
    prometheus: {
      trigger: prometheusTrigger({ clients, clock: systemClock, timeoutMs: 3000 }),
      metadata: { serverAddress: 'http://127.0.0.1:9', query: 'up', threshold: '5', authModes: 'custom' },
    },
    'metrics-api': {
      trigger: metricsApiTrigger({
        ...{ clients, clock: systemClock, timeoutMs: 3000, sharedServiceNamespaces: [] },
        listEndpoints: async () => [],
      }),
      metadata: { url: 'http://127.0.0.1:9/', valueLocation: 'a', targetValue: '5', authMode: 'custom' },
    },
  };

  after(() => stack.disposeAsync());

  for (const [name, { trigger, metadata }] of Object.entries(triggers)) {
    const keyAs = async (tenant: string) => {
      const authentication = { customAuthHeader: 'X-Scope-OrgID', customAuthValue: tenant };
      return (await planned(trigger, { metadata, authentication })).query.key;
    };

    it(`of ${name} have the same headers, so that no tenant gets the value of another`, async () => {
      expect(await keyAs('tenant-a')).to.equal(await keyAs('tenant-a'));
      expect(await keyAs('tenant-a')).to.not.equal(await keyAs('tenant-b'));
      expect(await keyAs('tenant-a')).to.not.contain('tenant-a');
    });
  }
});
