import { z } from 'zod';
import { deploymentKey, queryDeployment, type RedisDeployment } from '#lib/sources/redis/redis-deployment.ts';
import { readLength, readStreamCount } from '#lib/sources/redis/redis-length.ts';
import { RedisServers } from '#lib/sources/redis/redis-servers.ts';
import {
  AUTHENTICATION,
  boolean,
  hostAndPort,
  integer,
  oneOf,
  type Place,
  parameter,
  secret,
  text,
  UNSAFE_SSL,
} from './parameters/parameter.ts';
import { authorityIn, clientKey } from './parameters/tls-parameters.ts';
import { above, defineTrigger, oneMetric, type Trigger } from './trigger.ts';
import type { TriggerEnvironment } from './trigger-environment.ts';

const ADDRESS: readonly Place[] = ['metadata', 'authentication', 'environment'];

const HOST: readonly Place[] = ['metadata', 'environment', 'authentication'];

export const REDIS_CONNECTION = {
  address: parameter(
    text.optional(),
    'host:port of the server; for a cluster or sentinels, a comma-separated list.',
    { from: ADDRESS, aliases: ['addresses'] },
  ),
  host: parameter(
    text.optional(),
    'Host name, as an alternative to address; requires port. For a cluster or sentinels, a comma-separated list.',
    { from: HOST, aliases: ['hosts'] },
  ),
  port: parameter(text.optional(), 'Port of host; for a cluster or sentinels, a comma-separated list.', {
    from: HOST,
    aliases: ['ports'],
  }),
  username: parameter(text.optional(), 'User name.', { from: HOST }),
  password: parameter(text.optional(), 'Password.', { from: HOST, isSecret: true }),
  databaseIndex: parameter(integer.default(0), 'Index of the database; cannot be set for a cluster.'),
  enableTLS: parameter(boolean.optional(), 'Whether to use TLS.'),
  tls: parameter(
    oneOf('enable', 'disable').optional(),
    'Whether to use TLS: enable or disable. Cannot be set together with enableTLS.',
    { from: AUTHENTICATION },
  ),
  unsafeSsl: UNSAFE_SSL,
  ca: secret('CA certificates of the server, in PEM.'),
  cert: secret('Client certificate, in PEM.', ['Cert']),
  key: secret('Key of the client certificate, in PEM.'),
  keyPassword: secret('Passphrase of the key.'),
  sentinelMaster: parameter(
    text.optional(),
    'Name of the master that the sentinels monitor; required for sentinels.',
    { from: ADDRESS },
  ),
  sentinelUsername: parameter(text.optional(), 'User name for the sentinels.', { from: ADDRESS }),
  sentinelPassword: parameter(text.optional(), 'Password for the sentinels.', {
    from: ADDRESS,
    isSecret: true,
  }),
};

const listParameters = z.object({
  listName: parameter(text, 'Key of the list, set, sorted set or hash.'),
  listLength: parameter(integer.default(5), 'Target number of elements per replica.'),
  activationListLength: parameter(integer.default(0), 'The trigger is active above this value.'),
  ...REDIS_CONNECTION,
});

const openServers = (environment: TriggerEnvironment) => new RedisServers(environment);

/** The length of a list, set, sorted set or hash of Redis. */
export function redisTrigger({ open }: Pick<TriggerEnvironment, 'open'>): Trigger {
  const redis = open(openServers);
  return defineTrigger({
    types: ['redis', 'redis-cluster', 'redis-sentinel'],
    scalerName: () => 'redisScaler',
    description: 'The number of elements of a list, set, sorted set or hash in Redis.',
    parameters: listParameters,
    plan(given, request) {
      const deployment = redisDeploymentOf(given, formOf(request.type));
      const { listName } = given;
      return oneMetric({
        name: `redis-${listName}`,
        query: {
          key: JSON.stringify(['redis', deploymentKey(deployment), listName]),
          description: `length of ${listName.slice(0, 200)} of Redis at ${formatAddresses(deployment)}`,
          run: async (signal) => [
            {
              value: await queryDeployment(
                redis,
                { deployment, work: (send) => readLength(send, listName) },
                signal,
              ),
              labels: {},
            },
          ],
        },
        target: given.listLength,
        evaluate: above(given.activationListLength),
      });
    },
  });
}

const streamParameters = z.object({
  stream: parameter(text, 'Key of the stream.'),
  consumerGroup: parameter(text.optional(), 'Name of the consumer group.'),
  pendingEntriesCount: parameter(
    integer.default(5),
    'Target number of pending entries per replica, which were delivered to the consumer group, but not acknowledged; used if consumerGroup is set and lagCount is not.',
  ),
  streamLength: parameter(
    integer.default(5),
    'Target number of entries of the stream per replica; used if consumerGroup is not set.',
  ),
  lagCount: parameter(
    integer.optional(),
    'Target lag per replica, which is the number of entries that were not delivered to the consumer group yet; requires consumerGroup and Redis 7.',
  ),
  activationLagCount: parameter(
    integer.default(0),
    'The trigger is active if the number of entries (length, pending entries or lag) is above this value.',
  ),
  ...REDIS_CONNECTION,
});

export function redisStreamsTrigger({ open }: Pick<TriggerEnvironment, 'open'>): Trigger {
  const redis = open(openServers);
  return defineTrigger({
    types: ['redis-streams', 'redis-cluster-streams', 'redis-sentinel-streams'],
    scalerName: () => 'redisStreamsScaler',
    description:
      'The entries of a Redis stream: the length of the stream, or the pending entries or lag of a consumer group.',
    parameters: streamParameters,
    plan(given, request) {
      const deployment = redisDeploymentOf(given, formOf(request.type));
      const { stream, consumerGroup: group, lagCount } = given;
      const counted = group === undefined ? 'length' : lagCount === undefined ? 'pending' : 'lag';
      const targets = { length: given.streamLength, pending: given.pendingEntriesCount, lag: lagCount ?? 0 };
      return oneMetric({
        name: `redis-streams-${stream}`,
        query: {
          key: JSON.stringify(['redis-streams', deploymentKey(deployment), stream, group, counted]),
          description: `${counted} of stream ${stream.slice(0, 200)} of Redis at ${formatAddresses(deployment)}`,
          async run(signal) {
            const count = { stream, group, counted } as const;
            return [
              {
                value: await queryDeployment(
                  redis,
                  { deployment, work: (send) => readStreamCount(send, count) },
                  signal,
                ),
                labels: {},
              },
            ];
          },
        },
        target: targets[counted],
        evaluate: above(given.activationLagCount),
      });
    },
  });
}

/** The form of a trigger type such as `redis-sentinel-streams`. */
function formOf(type: string): (typeof REDIS_FORMS)[number] {
  return REDIS_FORMS.find((form) => type.startsWith(`redis-${form}`)) ?? 'server';
}

function formatAddresses({ addresses }: RedisDeployment): string {
  return addresses
    .slice(0, 3)
    .map(({ host, port }) => `${host}:${port}`)
    .join(', ');
}

/** Addresses are tried until one responds. */
const MAX_ADDRESSES = 50;

type Given = z.output<z.ZodObject<typeof REDIS_CONNECTION>>;

/** Deployment forms of Redis. */
export const REDIS_FORMS = ['server', 'cluster', 'sentinel'] as const;

/** The deployment by the parameters of a trigger. @throws an Error that names the invalid parameter */
export function redisDeploymentOf(given: Given, form: (typeof REDIS_FORMS)[number]): RedisDeployment {
  const { databaseIndex: database, username, password, enableTLS, tls, unsafeSsl } = given;
  if (enableTLS !== undefined && tls !== undefined)
    throw new Error('unable to set `tls` in both ScaledObject and TriggerAuthentication together');
  const [hosts, ports] = [listOf(given.host), listOf(given.port)];
  if (hosts.length !== ports.length)
    throw new Error(
      'not enough hosts or ports given. number of hosts should be equal to the number of ports',
    );
  const texts = [...listOf(given.address), ...hosts.map((host, index) => `${host}:${ports[index]}`)];
  if (texts.length === 0)
    throw new Error(
      'no addresses or hosts given. address should be a comma separated list of host:port or set the host/port values',
    );
  if (texts.length > MAX_ADDRESSES)
    throw new Error(`parameter "address" must have at most ${MAX_ADDRESSES} addresses`);
  if (form === 'cluster' && database !== 0)
    throw new Error('parameter "databaseIndex" cannot be set for a cluster');
  const addresses = texts.map((text) => hostAndPort('address', text));
  const { cert, keyPassword: passphrase } = given;
  const ca = authorityIn(given.ca);
  const isEncrypted = enableTLS === true || tls === 'enable';
  const secured = isEncrypted
    ? { ca, cert, key: clientKey(given.key, { passphrase }), isUnverified: unsafeSsl }
    : undefined;
  const access = { database, username, password, tls: secured };
  if (form !== 'sentinel') return { kind: form, addresses, access };
  const { sentinelMaster: master, sentinelUsername, sentinelPassword } = given;
  if (master === undefined)
    throw new Error(
      'missing required parameter "sentinelMaster" in [triggerMetadata authParams resolvedEnv]',
    );
  const sentinel = { database: 0, username: sentinelUsername, password: sentinelPassword, tls: secured };
  return { kind: form, addresses, access, sentinelAccess: sentinel, master: master.trim() };
}

function listOf(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}
