import { z } from 'zod';
import { fixedCredentials } from '#lib/sources/http/http-credentials.ts';
import type { SourceTls } from '#lib/sources/network/tls.ts';
import { extendTimeout } from '#lib/sources/query.ts';
import { type AmqpBroker, AmqpBrokers } from '#lib/sources/rabbitmq/amqp-brokers.ts';
import { type QueueFigure, queueFigures } from '#lib/sources/rabbitmq/management-api.ts';
import type { Sample } from '#lib/sources/sample.ts';
import {
  AUTHENTICATION,
  boolean,
  duration,
  float,
  integer,
  oneOf,
  type Place,
  parameter,
  REQUEST_TIMEOUT,
  secret,
  text,
  UNSAFE_SSL,
} from './parameters/parameter.ts';
import { authorityIn, clientKey } from './parameters/tls-parameters.ts';
import { above, defineTrigger, type MetricEvaluation, oneMetric, type Trigger } from './trigger.ts';
import type { TriggerEnvironment } from './trigger-environment.ts';

const MODES = [
  'QueueLength',
  'MessageRate',
  'DeliverGetRate',
  'PublishedToDeliveredRatio',
  'ExpectedQueueConsumptionTime',
] as const;
type Mode = (typeof MODES)[number];
const DEFAULT_LENGTH = 20;
const MAX_QUEUES = 500;
const MAX_NAME_LENGTH = 1000;

const LOGIN: readonly Place[] = ['authentication', 'environment'];

export const RABBITMQ_CONNECTION = {
  host: parameter(
    text,
    'URL of the broker: `amqp://user:password@host:port/vhost`, or the same with amqps, http or https.',
    { from: ['metadata', 'authentication', 'environment'], isSecret: true },
  ),
  protocol: parameter(
    oneOf('auto', 'amqp', 'http').default('auto'),
    'amqp, http or auto; auto uses the scheme of the URL in host.',
    { from: ['metadata', 'authentication'] },
  ),
  vhostName: parameter(text.optional(), 'Virtual host, instead of the one in the URL.', {
    from: ['metadata', 'authentication'],
  }),
  username: parameter(text.optional(), 'User name, instead of the one in the URL; requires password.', {
    from: LOGIN,
  }),
  password: parameter(text.optional(), 'Password; requires username.', { from: LOGIN }),
  unsafeSsl: UNSAFE_SSL,
  tls: parameter(
    oneOf('enable', 'disable').default('disable'),
    'Whether to use the certificates in ca, cert and key: enable or disable. Whether the connection uses TLS depends on the scheme of the URL.',
    { from: AUTHENTICATION },
  ),
  ca: secret('CA certificates of the broker, in PEM.'),
  cert: secret(
    'Client certificate, in PEM. With amqps, and without a user name, it authenticates the client.',
  ),
  key: secret('Key of the client certificate, in PEM.'),
  keyPassword: secret('Passphrase of the key.'),
};

const parameters = z.object({
  queueName: parameter(
    text,
    'Name of the queue; if useRegex is true, a regular expression, which the broker evaluates.',
  ),
  mode: parameter(oneOf(...MODES).optional(), `What the trigger measures: ${MODES.join(', ')}.`),
  value: parameter(
    float.optional(),
    `Target value per replica; requires mode. If mode, value and queueLength are all unset, the target is ${DEFAULT_LENGTH} messages.`,
  ),
  queueLength: parameter(
    float.optional(),
    'Deprecated: target number of messages per replica. Instead, set mode to QueueLength, and value.',
  ),
  activationValue: parameter(float.default(0), 'The trigger is active above this value.'),
  useRegex: parameter(
    boolean.default(false),
    'Whether queueName is a regular expression; requires protocol http.',
  ),
  excludeUnacknowledged: parameter(
    boolean.default(false),
    'Whether to exclude messages that were delivered, but not acknowledged; requires protocol http.',
  ),
  pageSize: parameter(
    integer.default(100),
    `Maximum number of queues that the regular expression may match; at most ${MAX_QUEUES}.`,
  ),
  operation: parameter(
    oneOf('sum', 'avg', 'max').default('sum'),
    'How to aggregate the values of several queues: sum, avg or max.',
  ),
  timeout: parameter(duration.optional(), `${REQUEST_TIMEOUT}. Requires protocol http.`),
  workloadIdentityResource: parameter(text.optional(), 'Not supported (the workload identity of a cloud).', {
    from: ['authentication'],
    isUnsupported: true,
  }),
  ...RABBITMQ_CONNECTION,
});

const openBrokers = (environment: TriggerEnvironment) => new AmqpBrokers(environment);

/** The messages of a queue of RabbitMQ. */
export function rabbitmqTrigger({
  open,
  clients,
  timeoutMs,
}: Pick<TriggerEnvironment, 'open' | 'clients' | 'timeoutMs'>): Trigger {
  const brokers = open(openBrokers);
  return defineTrigger({
    types: ['rabbitmq'],
    scalerName: () => 'rabbitMQScaler',
    description:
      'The messages in a RabbitMQ queue, read over AMQP or from the management API. Message rates and several queues (useRegex) require the management API.',
    parameters,
    plan(given, request) {
      const { queueName, activationValue: activation } = given;
      const { mode, target } = aimOf(given);
      if (given.workloadIdentityResource !== undefined)
        throw new Error('parameter "workloadIdentityResource" is not supported');
      if (queueName.length > MAX_NAME_LENGTH)
        throw new Error(`parameter "queueName" must not exceed ${MAX_NAME_LENGTH} characters`);
      const name = `rabbitmq-${encodeURIComponent(queueName)}`;
      const connection = rabbitmqConnectionOf(given);
      if (connection.protocol === 'amqp') {
        checkAmqp(given, mode);
        const query = brokers.queueLength(connection.broker, queueName);
        return oneMetric({ name, target, query, evaluate: above(activation) });
      }
      if (given.pageSize < 1 || given.pageSize > MAX_QUEUES)
        throw new Error(`parameter "pageSize" value "${given.pageSize}" must be from 1 to ${MAX_QUEUES}`);
      const { url, vhost, credentials } = connection;
      const requestTimeoutMs = given.timeout ?? timeoutMs;
      const baseQuery = queueFigures(
        { http: clients.for(credentials, request), url, vhost, timeoutMs: requestTimeoutMs },
        {
          ...{ name: queueName, isExpression: given.useRegex, pageSize: given.pageSize },
          ...{ operation: given.operation, countsUnacknowledged: !given.excludeUnacknowledged },
        },
      );
      return oneMetric({
        name,
        target,
        query: extendTimeout(baseQuery, requestTimeoutMs),
        evaluate: (samples) => evaluateQueue(samples, { mode, activation }),
      });
    },
  });
}

function aimOf({ mode, value, queueLength }: z.output<typeof parameters>): {
  readonly mode: Mode;
  readonly target: number;
} {
  if (queueLength !== undefined) {
    if (mode !== undefined || value !== undefined)
      throw new Error('queueLength cannot be set together with mode or value');
    if (queueLength <= 0) throw new Error('parameter "queueLength" must be greater than 0');
    return { mode: 'QueueLength', target: queueLength };
  }
  if (mode === undefined && value === undefined) return { mode: 'QueueLength', target: DEFAULT_LENGTH };
  if (mode === undefined) throw new Error('mode must be specified');
  if (value === undefined || value <= 0) throw new Error('value must be specified');
  return { mode, target: value };
}

function checkAmqp(given: z.output<typeof parameters>, mode: Mode): void {
  if (mode !== 'QueueLength')
    throw new Error(`protocol amqp not supported; must be HTTP to use trigger mode ${mode}`);
  for (const name of ['useRegex', 'excludeUnacknowledged', 'timeout'] as const)
    if (given[name]) throw new Error(`parameter "${name}" requires protocol http`);
}

/** Evaluates the figures of a queue in a mode. */
export function evaluateQueue(
  samples: readonly Sample[],
  { mode, activation }: { readonly mode: Mode; readonly activation: number },
): MetricEvaluation {
  const of = (what: QueueFigure) => samples.find(({ labels }) => labels.what === what)?.value ?? 0;
  const [messages, published, delivered] = [of('messages'), of('published'), of('delivered')];
  const one = (value: number, isActive = value > activation): MetricEvaluation => ({
    values: [value],
    isActive,
  });
  switch (mode) {
    case 'QueueLength':
      return one(messages);
    case 'MessageRate':
      return one(published, published > activation || messages > activation);
    case 'DeliverGetRate':
      return one(delivered);
    case 'PublishedToDeliveredRatio': {
      if (published > 0 && delivered > 0) return one(published / delivered);
      // Without deliveries there is no ratio, but the trigger is active while messages are published.
      return published > 0 ? one(activation, true) : one(0);
    }
    case 'ExpectedQueueConsumptionTime': {
      // Without deliveries there is no time, but the trigger is active while messages wait or are published.
      if (delivered === 0) return published > 0 || messages > 0 ? one(activation, true) : one(0, false);
      return one((published - delivered) / delivered + messages / delivered);
    }
  }
}

type Given = z.output<z.ZodObject<typeof RABBITMQ_CONNECTION>>;

type RabbitmqConnection =
  | { readonly protocol: 'amqp'; readonly broker: AmqpBroker }
  | {
      readonly protocol: 'http';
      readonly url: URL;
      readonly vhost: string;
      readonly credentials: ReturnType<typeof fixedCredentials>;
    };

const PORTS = { 'amqp:': 5672, 'amqps:': 5671 } as const;
const WEB = ['http:', 'https:'];

/** @throws an Error that names the invalid parameter, without the URL, which may contain a password */
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
  const authenticatesByCertificate = scheme === 'amqps:' && tls.cert !== undefined;
  return {
    protocol: 'amqp',
    broker: {
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? PORTS[scheme] : Number(url.port),
      login: login ?? (authenticatesByCertificate ? undefined : { username: 'guest', password: 'guest' }),
      ...{ vhost, tls: scheme === 'amqps:' ? tls : undefined },
    },
  };
}

function loginOf({ username, password }: Given, url: URL) {
  if ((username === undefined) !== (password === undefined))
    throw new Error('username and password must be set together');
  if (username !== undefined && password !== undefined) return { username: username.trim(), password };
  return url.username === ''
    ? undefined
    : { username: decoded(url.username), password: decoded(url.password) };
}

function tlsOf({ tls, ca, cert, key, keyPassword, unsafeSsl }: Given): SourceTls {
  if (tls === 'disable') return { isUnverified: unsafeSsl };
  if ((cert === undefined) !== (key === undefined)) throw new Error('cert and key must be set together');
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
