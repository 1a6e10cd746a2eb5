import { z } from 'zod';
import { patientQuery, type Sample } from '#lib/sources/query.ts';
import type { AmqpBrokers } from '#lib/sources/rabbitmq/amqp-brokers.ts';
import { type QueueFigure, queueFigures } from '#lib/sources/rabbitmq/management-api.ts';
import { RABBITMQ_CONNECTION, rabbitmqConnectionOf } from '../../parameters/rabbitmq-connection.ts';
import {
  boolean,
  duration,
  float,
  integer,
  METADATA,
  oneOf,
  parameter,
  text,
} from '../parameters/parameter.ts';
import { parametersOf } from '../parameters/read-parameters.ts';
import { above, type Judgement, oneMetric, type Trigger } from '../trigger.ts';
import type { TriggerClients } from '../trigger-clients.ts';

const MODES = [
  'QueueLength',
  'MessageRate',
  'DeliverGetRate',
  'PublishedToDeliveredRatio',
  'ExpectedQueueConsumptionTime',
] as const;
type Mode = (typeof MODES)[number];
const DEFAULT_LENGTH = 20;
const MOST_QUEUES = 500;
const LONGEST_NAME = 1000;

const parameters = z.object({
  queueName: parameter(text, {
    from: METADATA,
    description: 'The queue; with useRegex a regular expression, which the broker reads.',
  }),
  mode: parameter(oneOf(...MODES).optional(), {
    from: METADATA,
    description: `What counts: ${MODES.join(', ')}.`,
  }),
  value: parameter(float.optional(), {
    from: METADATA,
    description: `What one replica is to have, beside mode. Without both, ${DEFAULT_LENGTH} messages.`,
  }),
  queueLength: parameter(float.optional(), {
    from: METADATA,
    description: 'The same of mode QueueLength, from before there were modes.',
  }),
  activationValue: parameter(float.default(0), {
    from: METADATA,
    description: 'Above this the trigger is active.',
    default: '0',
  }),
  useRegex: parameter(boolean.default(false), {
    from: METADATA,
    description: 'Whether queueName is a regular expression; by http alone.',
    default: 'false',
  }),
  excludeUnacknowledged: parameter(boolean.default(false), {
    from: METADATA,
    description: 'Whether messages do not count that were delivered, but not acknowledged; by http alone.',
    default: 'false',
  }),
  pageSize: parameter(integer.default(100), {
    from: METADATA,
    description: `How many queues an expression may match, up to ${MOST_QUEUES}.`,
    default: '100',
  }),
  operation: parameter(oneOf('sum', 'avg', 'max').default('sum'), {
    from: METADATA,
    description: 'What several queues come to: sum, avg or max.',
    default: 'sum',
  }),
  timeout: parameter(duration.optional(), {
    from: METADATA,
    description: 'How long a request may take; by http alone.',
  }),
  workloadIdentityResource: parameter(text.optional(), {
    from: ['authentication'],
    description: 'Not supported: it needs a cloud.',
  }),
  ...RABBITMQ_CONNECTION,
});

/** What triggers work with that ask RabbitMQ. */
export interface RabbitmqTriggerOptions {
  readonly brokers: AmqpBrokers;
  readonly clients: TriggerClients;
  /** By default of one HTTP request. */
  readonly timeoutMs: number;
}

/** The messages of a queue of RabbitMQ. */
export function rabbitmqTrigger({ brokers, clients, timeoutMs }: RabbitmqTriggerOptions): Trigger {
  return {
    types: ['rabbitmq'],
    description:
      'The messages of a queue of RabbitMQ, by AMQP, or by the management plugin, which knows rates and several queues, too.',
    parameters,
    plan(request) {
      const given = parametersOf(parameters, request);
      const { queueName, activationValue: activation } = given;
      const { mode, target } = aimOf(given);
      if (given.workloadIdentityResource !== undefined)
        throw new Error('parameter "workloadIdentityResource" is not supported');
      if (queueName.length > LONGEST_NAME)
        throw new Error(`parameter "queueName" must be no longer than ${LONGEST_NAME} characters`);
      const name = `rabbitmq-${encodeURIComponent(queueName)}`;
      const connection = rabbitmqConnectionOf(given);
      if (connection.protocol === 'amqp') {
        checkAmqp(given, mode);
        const query = brokers.queueLength(connection.broker, queueName);
        return oneMetric({ name, target, query, judge: above(activation) });
      }
      if (given.pageSize < 1 || given.pageSize > MOST_QUEUES)
        throw new Error(`parameter "pageSize" value "${given.pageSize}" must be from 1 to ${MOST_QUEUES}`);
      const { url, vhost, credentials } = connection;
      const requestTimeoutMs = given.timeout ?? timeoutMs;
      const asked = queueFigures(
        { http: clients.for(credentials, request), url, vhost, timeoutMs: requestTimeoutMs },
        {
          ...{ name: queueName, isExpression: given.useRegex, pageSize: given.pageSize },
          ...{ operation: given.operation, countsUnacknowledged: !given.excludeUnacknowledged },
        },
      );
      return oneMetric({
        name,
        target,
        query: patientQuery(asked, requestTimeoutMs),
        judge: (samples) => judgeQueue(samples, { mode, activation }),
      });
    },
  };
}

/** What counts, and how much of it one replica is to have. */
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
    if (given[name]) throw new Error(`parameter "${name}" needs protocol http`);
}

/** What the figures of a queue mean in a mode. */
export function judgeQueue(
  samples: readonly Sample[],
  { mode, activation }: { readonly mode: Mode; readonly activation: number },
): Judgement {
  const of = (what: QueueFigure) => samples.find(({ labels }) => labels.what === what)?.value ?? 0;
  const [messages, published, delivered] = [of('messages'), of('published'), of('delivered')];
  const one = (value: number, isActive = value > activation): Judgement => ({ values: [value], isActive });
  switch (mode) {
    case 'QueueLength':
      return one(messages);
    case 'MessageRate':
      return one(published, published > activation || messages > activation);
    case 'DeliverGetRate':
      return one(delivered);
    case 'PublishedToDeliveredRatio': {
      if (published > 0 && delivered > 0) return one(published / delivered);
      // What is published and not delivered at all has no ratio, but something to do.
      return published > 0 ? one(activation, true) : one(0);
    }
    case 'ExpectedQueueConsumptionTime': {
      // What nobody takes has no time, but something to do; where there is nothing either, the queue is idle.
      if (delivered === 0) return published > 0 || messages > 0 ? one(activation, true) : one(0, false);
      return one((published - delivered) / delivered + messages / delivered);
    }
  }
}
