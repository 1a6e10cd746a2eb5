import { expect } from 'chai';
import {
  type ManagementApiOptions,
  type QueuesOptions,
  queueFigures,
  readQueueFigures,
} from '#lib/sources/rabbitmq/management-api.ts';

const { signal } = new AbortController();
const ONE = { isExpression: false, operation: 'sum', countsUnacknowledged: true } as const;
const MANY = { ...ONE, isExpression: true };
const QUEUES = [queue(3, 1, { published: 2, delivered: 0.5 }), queue(4, 4, { published: 1 }), queue(1, 0)];

describe('readQueueFigures', () => {
  it('reads the messages of a queue, and the publish and deliver rates', () => {
    expect(figures(QUEUES[0], ONE)).to.deep.equal({ messages: 3, published: 2, delivered: 0.5 });
    const ready = { ...ONE, countsUnacknowledged: false };
    expect(figures(QUEUES[0], ready)).to.deep.equal({ messages: 1, published: 2, delivered: 0.5 });
    expect(figures(QUEUES[2], ONE)).to.deep.equal({ messages: 1, published: 0, delivered: 0 });
  });

  for (const [operation, expected] of [
    ['sum', { messages: 8, published: 3, delivered: 0.5 }],
    ['max', { messages: 4, published: 2, delivered: 0.5 }],
    ['avg', { messages: 2, published: 1, delivered: 0.5 / 3 }], // messages are integers
  ] as const)
    it(`has several queues come to their ${operation}`, () => {
      const found = { items: QUEUES, page_count: 1 };
      expect(figures(found, { ...MANY, operation })).to.deep.equal(expected);
      const none = { items: [], page_count: 0 };
      const nothing = { messages: 0, published: 0, delivered: 0 };
      expect(figures(none, { ...MANY, operation })).to.deep.equal(nothing);
    });

  it('refuses a partial list of matches, and a queue without a number of messages', () => {
    expect(() => figures({ items: QUEUES, page_count: 2 }, MANY)).to.throw(
      'regex matches more queues than can be recovered at once',
    );
    expect(() => figures({ name: 'new', messages_ready: 0 }, ONE)).to.throw(
      'the messages of queue new are not available yet',
    );
    expect(() => figures({ name: 'odd', messages: -1 }, ONE)).to.throw(/RabbitMQ/);
  });
});

describe('queueFigures', () => {
  it('refuses names that would request another path', () => {
    const build = (name: string, vhost: string, isExpression = false) => {
      const http = { exchange: () => expect.fail(), credentialName: '' };
      const options = { http, vhost, timeoutMs: 1000, url: new URL('http://broker.example/') };
      queueFigures(options as unknown as ManagementApiOptions, { ...ONE, name, isExpression, pageSize: 50 });
    };
    for (const name of ['.', '..'])
      for (const refused of [() => build(name, '/'), () => build('jobs', name), () => build('j', name, true)])
        expect(refused).to.throw(`Cannot build path: "${name}" is not a path segment`);
    build('..', '/', true); // the expression is in the query
  });

  it('requests one queue by its name, and several by an expression', async () => {
    const requested: string[] = [];
    const request = async (given: Partial<QueuesOptions>) => {
      const exchange = async ({ url }: { readonly url: URL }) => {
        requested.push(url.href);
        const body = given.isExpression ? { items: QUEUES, page_count: 1 } : QUEUES[0];
        return { statusCode: 200, body: Buffer.from(JSON.stringify(body)) };
      };
      const options = { http: { exchange, credentialName: '' }, vhost: 'a/b', timeoutMs: 1000 };
      const url = new URL('http://broker.example:15672/base/');
      const query = queueFigures({ ...options, url } as unknown as ManagementApiOptions, {
        ...ONE,
        name: 'jobs/^x',
        pageSize: 50,
        ...given,
      });
      expect(query.description).to.equal('queue jobs/^x at broker.example:15672');
      expect(query.source).to.equal('broker.example:15672');
      return await query.run(signal);
    };
    expect((await request({})).map(({ value }) => value)).to.deep.equal([3, 2, 0.5]);
    expect((await request({ isExpression: true })).map(({ value }) => value)).to.deep.equal([8, 3, 0.5]);
    expect(requested).to.deep.equal([
      'http://broker.example:15672/base/api/queues/a%2Fb/jobs%2F%5Ex',
      'http://broker.example:15672/base/api/queues/a%2Fb?page=1&use_regex=true&pagination=false&name=jobs%2F%5Ex&page_size=50',
    ]);
  });
});

function queue(messages: number, ready: number, rates: { published?: number; delivered?: number } = {}) {
  const { published, delivered } = rates;
  const message_stats = {
    ...(published !== undefined && { publish_details: { rate: published } }),
    ...(delivered !== undefined && { deliver_get_details: { rate: delivered } }),
  };
  return { name: 'jobs', messages, messages_ready: ready, message_stats };
}

function figures(body: unknown, options: Parameters<typeof readQueueFigures>[1]) {
  const samples = readQueueFigures(Buffer.from(JSON.stringify(body)), options);
  return Object.fromEntries(samples.map(({ value, labels }) => [labels.what, value]));
}
