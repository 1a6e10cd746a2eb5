import type { z } from 'zod';
import type { RedisPlace } from '#lib/sources/redis/redis-deployment.ts';
import {
  AUTHENTICATION,
  boolean,
  hostAndPort,
  integer,
  METADATA,
  oneOf,
  type Place,
  parameter,
  secret,
  text,
  UNSAFE_SSL,
} from '../triggers/parameters/parameter.ts';
import { authorityIn, clientKey } from '../triggers/parameters/tls-parameters.ts';

const ADDRESS: readonly Place[] = ['metadata', 'authentication', 'environment'];
/** Each may be tried until one responds. */
const MOST_ADDRESSES = 50;
const HOST: readonly Place[] = ['metadata', 'environment', 'authentication'];

/** Where a Redis server is, and who asks it. */
export const REDIS_CONNECTION = {
  address: parameter(text.optional(), {
    from: ADDRESS,
    aliases: ['addresses'],
    description: 'host:port; for a cluster and sentinels, a list with commas between.',
  }),
  host: parameter(text.optional(), { from: HOST, aliases: ['hosts'], description: 'The host, beside port.' }),
  port: parameter(text.optional(), { from: HOST, aliases: ['ports'], description: 'Its port.' }),
  username: parameter(text.optional(), { from: HOST, description: 'Who asks.' }),
  password: parameter(text.optional(), { from: HOST, isSecret: true, description: 'The password.' }),
  databaseIndex: parameter(integer.default(0), {
    from: METADATA,
    description: 'Which database.',
    default: '0',
  }),
  enableTLS: parameter(boolean.optional(), {
    from: METADATA,
    description: 'Whether the connection is encrypted.',
  }),
  tls: parameter(oneOf('enable', 'disable').optional(), {
    from: AUTHENTICATION,
    description: 'The same: enable or disable.',
  }),
  unsafeSsl: UNSAFE_SSL,
  ca: secret('PEM of the authorities that the server may have its certificate of.'),
  cert: secret('PEM of a client certificate.', ['Cert']),
  key: secret('PEM of its key.'),
  keyPassword: secret('The passphrase of the key.'),
  sentinelMaster: parameter(text.optional(), {
    from: ADDRESS,
    description: 'Of sentinels: the name under which they know the server. They need it.',
  }),
  sentinelUsername: parameter(text.optional(), {
    from: ADDRESS,
    description: 'Of sentinels: who asks them.',
  }),
  sentinelPassword: parameter(text.optional(), {
    from: ADDRESS,
    isSecret: true,
    description: 'Of sentinels: their password.',
  }),
};

type Given = z.output<z.ZodObject<typeof REDIS_CONNECTION>>;

/** The forms in which servers of Redis belong together. */
export const REDIS_FORMS = ['server', 'cluster', 'sentinel'] as const;

/** The servers that parameters mean: a plain one is the first of several. @throws an Error that says which parameter is wrong */
export function redisPlaceOf(given: Given, form: (typeof REDIS_FORMS)[number]): RedisPlace {
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
  if (texts.length > MOST_ADDRESSES)
    throw new Error(`parameter "address" must be a list of no more than ${MOST_ADDRESSES}`);
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
