import type { z } from 'zod';
import { fixedCredentials } from '#lib/sources/http/http-credentials.ts';
import type { SourceTls } from '#lib/sources/network/guarded-socket.ts';
import type { AmqpBroker } from '#lib/sources/rabbitmq/amqp-brokers.ts';
import {
  AUTHENTICATION,
  oneOf,
  type Place,
  parameter,
  secret,
  text,
  UNSAFE_SSL,
} from '../triggers/parameters/parameter.ts';
import { authorityIn, clientKey } from '../triggers/parameters/tls-parameters.ts';

const LOGIN: readonly Place[] = ['authentication', 'environment'];

/** Where a broker is, and who asks it. */
export const RABBITMQ_CONNECTION = {
  host: parameter(text, {
    from: ['metadata', 'authentication', 'environment'],
    isSecret: true,
    description: '`amqp://user:password@host:port/vhost`, also with amqps, http or https.',
  }),
  protocol: parameter(oneOf('auto', 'amqp', 'http').default('auto'), {
    from: ['metadata', 'authentication'],
    description: 'amqp, http, or auto: what the scheme of the host says.',
    default: 'auto',
  }),
  vhostName: parameter(text.optional(), {
    from: ['metadata', 'authentication'],
    description: 'The virtual host, in place of that in the host.',
  }),
  username: parameter(text.optional(), {
    from: LOGIN,
    description: 'Who asks, in place of who is in the host.',
  }),
  password: parameter(text.optional(), { from: LOGIN, description: 'The password.' }),
  unsafeSsl: UNSAFE_SSL,
  tls: parameter(oneOf('enable', 'disable').default('disable'), {
    from: AUTHENTICATION,
    description:
      'Whether the following count: enable or disable. Whether a connection is encrypted, the scheme says.',
    default: 'disable',
  }),
  ca: secret('PEM of the authorities that the broker may have its certificate of.'),
  cert: secret('PEM of a client certificate; by amqps without a user, it says who asks.'),
  key: secret('PEM of its key.'),
  keyPassword: secret('The passphrase of the key.'),
};

type Given = z.output<z.ZodObject<typeof RABBITMQ_CONNECTION>>;

/** A broker, by one of the protocols. */
export type RabbitmqConnection =
  | { readonly protocol: 'amqp'; readonly broker: AmqpBroker }
  | {
      readonly protocol: 'http';
      readonly url: URL;
      readonly vhost: string;
      readonly credentials: ReturnType<typeof fixedCredentials>;
    };

const PORTS = { 'amqp:': 5672, 'amqps:': 5671 } as const;
const WEB = ['http:', 'https:'];

/** @throws an Error that says which parameter cannot be used, and shows nothing of the host, which holds a password */
export function rabbitmqConnectionOf(given: Given): RabbitmqConnection {
  const text = given.host.trim();
  if (!URL.canParse(text)) throw new Error('parameter "host" must be a URL');
  const url = new URL(text);
  const isWeb = WEB.includes(url.protocol);
  const scheme = url.protocol === 'amqp:' || url.protocol === 'amqps:' ? url.protocol : undefined;
  if (!isWeb && !scheme) throw new Error(`unknown host URL scheme ${url.protocol.slice(0, -1).slice(0, 50)}`);
  if (given.protocol !== 'auto' && (given.protocol === 'http') !== isWeb)
    throw new Error(`parameter "host" must have a scheme of protocol ${given.protocol}`);
  const login = loginOf(given, url);
  const tls = tlsOf(given);
  const segments = url.pathname.split('/');
  const named = decoded(segments.pop() ?? '') || '/';
  const vhost = given.vhostName?.trim() ?? named;
  if (!scheme) {
    const authorization =
      login && `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`;
    const { isUnverified, ca, cert, key } = tls;
    const credentials = fixedCredentials({
      authorization,
      ca,
      cert,
      key,
      ...(isUnverified && { isUnverified }),
    });
    return { protocol: 'http', url: new URL(`${url.origin}${segments.join('/')}/`), vhost, credentials };
  }
  const isKnownByCertificate = scheme === 'amqps:' && tls.cert !== undefined;
  return {
    protocol: 'amqp',
    broker: {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? PORTS[scheme] : Number(url.port),
      login: login ?? (isKnownByCertificate ? undefined : { username: 'guest', password: 'guest' }),
      ...{ vhost, tls: scheme === 'amqps:' ? tls : undefined },
    },
  };
}

function loginOf({ username, password }: Given, url: URL) {
  if ((username === undefined) !== (password === undefined))
    throw new Error('username and password need each other');
  if (username !== undefined && password !== undefined) return { username: username.trim(), password };
  return url.username === ''
    ? undefined
    : { username: decoded(url.username), password: decoded(url.password) };
}

function tlsOf({ tls, ca, cert, key, keyPassword, unsafeSsl }: Given): SourceTls {
  if (tls === 'disable') return { isUnverified: unsafeSsl };
  if ((cert === undefined) !== (key === undefined)) throw new Error('cert and key need each other');
  return {
    ca: authorityIn(ca),
    cert,
    key: clientKey(key, { passphrase: keyPassword }),
    isUnverified: unsafeSsl,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('parameter "host" must have its parts percent-encoded');
  }
}
