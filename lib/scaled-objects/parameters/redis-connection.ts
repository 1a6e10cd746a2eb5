import type { RedisServerOptions } from '#lib/sources/redis/redis-servers.ts';
import { hostAndPort } from './host-and-port.ts';
import {
  AUTHENTICATION,
  boolean,
  integer,
  METADATA,
  oneOf,
  type Place,
  parameter,
  text,
} from './parameter.ts';

const ADDRESS: readonly Place[] = ['metadata', 'authentication', 'environment'];
const HOST: readonly Place[] = ['metadata', 'environment', 'authentication'];
const secret = (description: string, aliases: readonly string[] = []) =>
  parameter(text.optional(), { from: AUTHENTICATION, description, aliases });

/** Where a Redis server is, and who asks it. */
export const REDIS_CONNECTION = {
  address: parameter(text.optional(), {
    from: ADDRESS,
    aliases: ['addresses'],
    description: 'host:port; of a list with commas between, the first.',
  }),
  host: parameter(text.optional(), { from: HOST, aliases: ['hosts'], description: 'The host, beside port.' }),
  port: parameter(text.optional(), { from: HOST, aliases: ['ports'], description: 'Its port.' }),
  username: parameter(text.optional(), { from: HOST, description: 'Who asks.' }),
  password: parameter(text.optional(), { from: HOST, description: 'The password.' }),
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
  unsafeSsl: parameter(boolean.default(false), {
    from: METADATA,
    description: 'Whether any certificate of the server is taken.',
    default: 'false',
  }),
  ca: secret('PEM of the authorities that the server may have its certificate of.'),
  cert: secret('PEM of a client certificate.', ['Cert']),
  key: secret('PEM of its key.'),
  keyPassword: secret('The passphrase of the key.'),
};

interface Given {
  readonly address?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly databaseIndex: number;
  readonly enableTLS?: boolean | undefined;
  readonly tls?: 'enable' | 'disable' | undefined;
  readonly unsafeSsl: boolean;
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly keyPassword?: string | undefined;
}

/** The server that parameters mean: of several, the first. @throws an Error that says which parameter is wrong */
export function redisServerOf(given: Given): RedisServerOptions {
  const { databaseIndex: database, username, password, enableTLS, tls, unsafeSsl } = given;
  if (enableTLS !== undefined && tls !== undefined)
    throw new Error('unable to set `tls` in both ScaledObject and TriggerAuthentication together');
  const [hosts, ports] = [listOf(given.host), listOf(given.port)];
  if (hosts.length !== ports.length)
    throw new Error(
      'not enough hosts or ports given. number of hosts should be equal to the number of ports',
    );
  const [address] = [...listOf(given.address), ...hosts.map((host, index) => `${host}:${ports[index]}`)];
  if (address === undefined)
    throw new Error(
      'no addresses or hosts given. address should be a comma separated list of host:port or set the host/port values',
    );
  const isEncrypted = enableTLS === true || tls === 'enable';
  const { ca, cert, key, keyPassword: passphrase } = given;
  return {
    ...hostAndPort('address', address),
    ...{ database, username, password },
    tls: isEncrypted ? { ca, cert, key, passphrase, isUnverified: unsafeSsl } : undefined,
  };
}

function listOf(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}
