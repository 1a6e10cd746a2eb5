import { z } from 'zod';
import { pathSegment } from '#lib/kubernetes/path-segment.ts';
import { extractResult } from '../http/http-client.ts';
import type { HttpRequester } from '../http/observed-requester.ts';
import { pathBelow } from '../http/source-url.ts';
import { readJsonAs } from '../json/read-json.ts';
import { type Query, shorten } from '../query.ts';
import { AGGREGATORS, type Sample } from '../sample.ts';

/** The management plugin of RabbitMQ. */
export interface ManagementApiOptions {
  readonly http: HttpRequester;
  /** Base URL of the plugin, without `/api`. */
  readonly url: URL;
  readonly vhost: string;
  readonly timeoutMs: number;
}

export interface QueuesOptions {
  /** A queue name, or a regular expression that the broker evaluates. */
  readonly name: string;
  readonly isExpression: boolean;
  readonly pageSize: number;
  /** Aggregates several queues. */
  readonly operation: 'sum' | 'avg' | 'max';
  /** Whether to count delivered messages that are not acknowledged. */
  readonly countsUnacknowledged: boolean;
}

/** The label `what` of a sample. */
export type QueueFigure = 'messages' | 'published' | 'delivered';

const RATE = z.object({ rate: z.number().nonnegative().optional() }).optional();
const QUEUE = z.object({
  name: z.string(),
  messages: z.number().nonnegative().optional(),
  messages_ready: z.number().nonnegative().optional(),
  message_stats: z.object({ publish_details: RATE, deliver_get_details: RATE }).optional(),
});
const QUEUES = z.object({ items: z.array(QUEUE), page_count: z.number() });

type FoundQueue = z.infer<typeof QUEUE>;

/** Creates a query for the messages of queues, and their publish and delivery rates per second. */
export function queueFigures(options: ManagementApiOptions, queues: QueuesOptions): Query {
  const { http, timeoutMs } = options;
  const url = buildUrl(options, queues);
  return {
    key: JSON.stringify(['rabbitmq', http.credentialName, url.href, queues]),
    description: `queue ${shorten(queues.name)} at ${url.host}`,
    source: url.host,
    async run(signal) {
      return extractResult(await http.exchange({ url, timeoutMs }, signal), {
        ...{ url, system: 'RabbitMQ', findReason: (body) => body.toString('utf8') },
        parse: (body) => readQueueFigures(body, queues),
      });
    },
  };
}

/**
 * Parses a response about one queue, or about those that match an expression.
 *
 * @throws an Error if it is invalid or incomplete
 */
export function readQueueFigures(
  body: Buffer,
  { isExpression, operation, countsUnacknowledged }: Omit<QueuesOptions, 'name' | 'pageSize'>,
): readonly Sample[] {
  const found = isExpression
    ? readJsonAs(QUEUES, body, 'RabbitMQ')
    : { items: [readJsonAs(QUEUE, body, 'RabbitMQ')], page_count: 1 };
  if (found.page_count > 1) throw new Error('regex matches more queues than can be recovered at once');
  const rate = (read: (queue: FoundQueue) => number) =>
    combine(found.items.map(read), operation, (value) => value);
  const messages = found.items.map((queue) => countMessages(queue, countsUnacknowledged));
  return [
    toSample('messages', combine(messages, operation, Math.trunc)),
    toSample(
      'published',
      rate(({ message_stats }) => message_stats?.publish_details?.rate ?? 0),
    ),
    toSample(
      'delivered',
      rate(({ message_stats }) => message_stats?.deliver_get_details?.rate ?? 0),
    ),
  ];
}

/** The broker has no counts yet for a queue that was just declared. */
function countMessages(queue: FoundQueue, countsUnacknowledged: boolean): number {
  const count = countsUnacknowledged ? queue.messages : queue.messages_ready;
  if (count === undefined) throw new Error(`the messages of queue ${queue.name} are not available yet`);
  return count;
}

function combine(
  values: readonly number[],
  operation: QueuesOptions['operation'],
  round: (mean: number) => number,
): number {
  if (values.length === 0) return 0;
  const value = AGGREGATORS[operation](values);
  return operation === 'avg' ? round(value) : value;
}

function toSample(what: QueueFigure, value: number): Sample {
  return { value, labels: { what } };
}

function buildUrl(
  { url, vhost }: ManagementApiOptions,
  { name, isExpression, pageSize }: QueuesOptions,
): URL {
  const queues = `/api/queues/${pathSegment(vhost)}`;
  if (!isExpression) return pathBelow(url, `${queues}/${pathSegment(name)}`);
  const address = pathBelow(url, queues);
  const parameters = { page: '1', use_regex: 'true', pagination: 'false', name, page_size: `${pageSize}` };
  for (const [key, value] of Object.entries(parameters)) address.searchParams.set(key, value);
  return address;
}
