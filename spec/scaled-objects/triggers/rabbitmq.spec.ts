import { rootCertificates } from 'node:tls';
import { expect } from 'chai';
import { z } from 'zod';
import {
  evaluateQueue,
  RABBITMQ_CONNECTION,
  rabbitmqConnectionOf,
  rabbitmqTrigger,
} from '#lib/scaled-objects/triggers/rabbitmq.ts';
import { TriggerClients } from '#lib/scaled-objects/triggers/trigger-clients.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { AmqpBrokers } from '#lib/sources/rabbitmq/amqp-brokers.ts';
import { systemClock } from '#lib/time/clock.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { opening, planned } from '#spec/support/planned-trigger.ts';
import { playBroker } from '#spec/support/played-broker.ts';

describe('rabbitmqTrigger', () => {
  let stack: AsyncDisposableStack;
  let trigger: ReturnType<typeof rabbitmqTrigger>;

  beforeEach(() => {
    stack = new AsyncDisposableStack();
    const base = { clock: systemClock, allowedHosts: new AllowedHosts(['127.0.0.0/8']) };
    const clients = stack.use(new TriggerClients({ ...base, userAgent: 'spec' }));
    trigger = rabbitmqTrigger({ ...opening(stack.use(new AmqpBrokers(base))), clients, timeoutMs: 3000 });
  });

  afterEach(() => stack.disposeAsync());

  const refusal = (metadata: Record<string, string>, authentication: Record<string, string> = {}) =>
    errorOf(planned(trigger, { metadata: { queueName: 'jobs', ...metadata }, authentication }));
  const AMQP = 'amqp://127.0.0.1';
  const HTTP = 'http://127.0.0.1:15672';

  it('queries by AMQP if the scheme is amqp, with a target of 20 messages', async () => {
    const broker = stack.use(await playBroker());
    broker.queues.set('jobs', 21);
    const host = `amqp://alice:hid%2Fden@127.0.0.1:${broker.server.port}/team%2Fa`;
    const metric = await planned(trigger, { metadata: { queueName: 'jobs', host } });
    expect(metric).to.include({ name: 'rabbitmq-jobs', target: 20 });
    expect(await metric.send()).to.deep.equal({ value: 21, isActive: true });
    expect(broker.observed.join()).to.match(/PLAIN .*alice hid\/den/);
    expect(broker.observed).to.include('10.40  team/a ');
    expect(metric.query.key + metric.query.description).to.not.contain('hid');
    const other = { username: 'bob', password: 'secret' };
    const metadata = { queueName: 'jobs', host, vhostName: '/', activationValue: '21' };
    const second = await planned(trigger, { metadata, authentication: other });
    expect(await second.send()).to.deep.equal({ value: 21, isActive: false });
    expect(broker.observed.join()).to.match(/PLAIN .*bob secret/);
    expect(broker.observed).to.include('10.40  / ');
  });

  it('authenticates as guest without a user, and uses the default virtual host', async () => {
    for (const end of ['', '/']) {
      const broker = stack.use(await playBroker());
      broker.queues.set('jobs', 1);
      const host = `amqp://127.0.0.1:${broker.server.port}${end}`;
      const metric = await planned(trigger, { metadata: { queueName: 'jobs', host } });
      expect((await metric.send()).value).to.equal(1);
      expect(broker.observed.join()).to.match(/PLAIN .*guest guest/);
      expect(broker.observed).to.include('10.40  / ');
    }
  });

  it('names the invalid parameter, without the host', async () => {
    expect(await refusal({})).to.match(/^missing required parameter "host"/);
    expect(await refusal({ host: 'amqp://u:hidden@' })).to.equal('parameter "host" must be a URL');
    for (const host of ['amqp://u:%zz@h', 'amqp://%zz:p@h', 'amqp://h/%zz', 'http://h/%zz'])
      expect(await refusal({ host }), host).to.equal('parameter "host" must have its parts percent-encoded');
    expect(await refusal({ host: 'redis://a' })).to.equal('unknown host URL scheme redis');
    expect(await refusal({ host: HTTP, protocol: 'amqp' })).to.match(/must have a scheme of protocol amqp$/);
    expect(await refusal({ host: HTTP, protocol: 'mqtt' })).to.match(/must be one of \[auto amqp http\]$/);
    expect(await refusal({ host: HTTP, mode: 'QueueLength' })).to.equal('value must be specified');
    expect(await refusal({ host: HTTP, mode: 'QueueLength', value: '0' })).to.equal(
      'value must be specified',
    );
    expect(await refusal({ host: HTTP, value: '1' })).to.equal('mode must be specified');
    expect(await refusal({ host: HTTP, mode: 'Length', value: '1' })).to.match(
      /must be one of \[QueueLength/,
    );
    expect(await refusal({ host: HTTP, queueLength: '1', value: '1' })).to.match(/cannot be set together/);
    expect(await refusal({ host: HTTP, queueLength: '0' })).to.match(/must be greater than 0$/);
    expect(await refusal({ host: HTTP, pageSize: '0' })).to.match(/must be from 1 to 500$/);
    expect(await refusal({ host: HTTP, operation: 'min' })).to.match(/must be one of \[sum avg max\]$/);
    expect(await refusal({ host: AMQP, mode: 'MessageRate', value: '1' })).to.equal(
      'protocol amqp not supported; must be HTTP to use trigger mode MessageRate',
    );
    expect(await refusal({ host: AMQP, useRegex: 'true' })).to.equal(
      'parameter "useRegex" requires protocol http',
    );
    expect(await refusal({ host: AMQP, timeout: '1s' })).to.equal(
      'parameter "timeout" requires protocol http',
    );
    expect(await refusal({ host: AMQP, excludeUnacknowledged: 'true' })).to.match(/requires protocol http$/);
    expect(await refusal({ host: AMQP }, { username: 'a' })).to.match(/must be set together$/);
    expect(await refusal({ host: AMQP }, { tls: 'enable', cert: 'a' })).to.equal(
      'cert and key must be set together',
    );
    expect(await refusal({ host: AMQP }, { tls: 'enable', cert: 'a', key: 'b', keyPassword: 'c' })).to.match(
      /^Cannot read parameter "key" with parameter "keyPassword"/,
    );
    expect(await refusal({ host: AMQP }, { workloadIdentityResource: 'a' })).to.match(/is not supported$/);
    expect(await refusal({ host: HTTP, queueName: 'a'.repeat(1001) })).to.match(
      /must not exceed 1000 characters$/,
    );
  });

  describe('by the management plugin', () => {
    let server: LoopbackServer;
    let requested: { url: string; authorization: string | undefined }[];
    let response: { status: number; body: unknown };

    beforeEach(async () => {
      requested = [];
      response = { status: 200, body: {} };
      server = stack.use(
        await LoopbackServer.start((request, reply) => {
          requested.push({
            url: request.url.pathname + request.url.search,
            authorization: request.headers.authorization,
          });
          reply.writeHead(response.status);
          reply.end(typeof response.body === 'string' ? response.body : JSON.stringify(response.body));
        }),
      );
    });

    const send = async (metadata: Record<string, string> = {}, path = '') =>
      await planned(trigger, {
        metadata: {
          queueName: 'jobs/a',
          host: `${server.url.href.replace('//', '//alice:hidden@').replace(/\/$/, '')}${path}`,
          ...metadata,
        },
      });
    const queue = (messages: number, [published, delivered]: readonly number[] = []) => ({
      ...{ name: 'jobs', messages, messages_ready: messages - 1 },
      ...(published !== undefined && {
        message_stats: { publish_details: { rate: published }, deliver_get_details: { rate: delivered } },
      }),
    });

    it('queries one queue of a virtual host', async () => {
      response.body = queue(7);
      const metric = await send({ mode: 'QueueLength', value: '2.5' });
      expect(metric).to.include({ name: 'rabbitmq-jobs%2Fa', target: 2.5 });
      expect(await metric.send()).to.deep.equal({ value: 7, isActive: true });
      expect(await (await send({ excludeUnacknowledged: 'true' }, '/team%2Fa')).send()).to.include({
        value: 6,
      });
      expect((await (await send({ vhostName: 'b c' }, '/prefix/x')).send()).value).to.equal(7);
      expect(requested.map(({ url }) => url)).to.deep.equal([
        '/api/queues/%2F/jobs%2Fa',
        '/api/queues/team%2Fa/jobs%2Fa',
        '/prefix/api/queues/b%20c/jobs%2Fa',
      ]);
      const host = `${server.url.href.replace('//', '//a%40b:c%2Fd@')}x`;
      await (await send({ host })).send();
      expect(requested.at(-1)?.authorization).to.equal(`Basic ${Buffer.from('a@b:c/d').toString('base64')}`);
      expect(requested[0]?.authorization).to.equal(`Basic ${Buffer.from('alice:hidden').toString('base64')}`);
      expect(metric.query.key + metric.query.description).to.not.contain('hidden');
    });

    it('queries all queues that an expression matches, and aggregates them', async () => {
      response.body = { items: [queue(7, [1, 2]), queue(4, [2, 3]), queue(4)], page_count: 1 };
      const expression = { useRegex: 'true', queueName: '^job.*', pageSize: '50' };
      expect((await (await send(expression)).send()).value).to.equal(15);
      expect((await (await send({ ...expression, operation: 'avg' })).send()).value).to.equal(5);
      expect((await (await send({ ...expression, operation: 'max' })).send()).value).to.equal(7);
      const rate = { ...expression, mode: 'DeliverGetRate', value: '1' };
      expect((await (await send(rate)).send()).value).to.equal(5);
      expect((await (await send({ ...rate, operation: 'avg' })).send()).value).to.be.closeTo(5 / 3, 1e-9);
      expect(requested[0]?.url).to.equal(
        '/api/queues/%2F?page=1&use_regex=true&pagination=false&name=%5Ejob.*&page_size=50',
      );
      response.body = { items: [], page_count: 0 };
      expect(await (await send(expression)).send()).to.deep.equal({ value: 0, isActive: false });
      response.body = { items: [queue(1)], page_count: 2 };
      expect(await errorOf((await send(expression)).send())).to.match(
        /regex matches more queues than can be recovered at once$/,
      );
    });

    it('reports what cannot be read, without the password', async () => {
      const reported = async (status: number, body: unknown) => {
        response = { status, body };
        return await errorOf((await send()).send());
      };
      expect(await reported(404, '{"error":"Object Not Found"}')).to.match(/status 404: .*Object Not Found/);
      expect(await reported(200, 'no JSON')).to.match(/the response is not valid JSON$/);
      expect(await reported(200, { name: 'jobs', messages: 'many' })).to.match(
        /not a valid response of RabbitMQ$/,
      );
      expect(await reported(200, { name: 'jobs' })).to.match(
        /the messages of queue jobs are not available yet$/,
      );
      expect(await reported(200, { ...queue(-1), messages: -1 })).to.match(
        /not a valid response of RabbitMQ$/,
      );
      expect(await reported(200, '['.repeat(1000))).to.match(/nested deeper/);
      expect(await reported(200, 'a'.repeat(5 * 1024 * 1024))).to.match(/longer than 4194304 bytes$/);
      expect(await reported(401, 'hidden?')).to.not.contain('alice:hidden');
    });
  });
});

describe('evaluateQueue', () => {
  const judged = (mode: Parameters<typeof evaluateQueue>[1]['mode'], [n, p, d]: number[], activation = 2) => {
    const samples = [
      { value: n ?? 0, labels: { what: 'messages' } },
      { value: p ?? 0, labels: { what: 'published' } },
      { value: d ?? 0, labels: { what: 'delivered' } },
    ];
    const { values, isActive } = evaluateQueue(samples, { mode, activation });
    return [values[0], isActive];
  };

  it('evaluates each mode', () => {
    expect(judged('QueueLength', [2])).to.deep.equal([2, false]);
    expect(judged('QueueLength', [3])).to.deep.equal([3, true]);
    expect(judged('MessageRate', [0, 2])).to.deep.equal([2, false]);
    expect(judged('MessageRate', [0, 2.5])).to.deep.equal([2.5, true]);
    expect(judged('MessageRate', [3, 0])).to.deep.equal([0, true]);
    expect(judged('DeliverGetRate', [9, 9, 2])).to.deep.equal([2, false]);
    expect(judged('DeliverGetRate', [0, 0, 2.5])).to.deep.equal([2.5, true]);
    expect(judged('PublishedToDeliveredRatio', [9, 5, 2])).to.deep.equal([2.5, true]);
    expect(judged('PublishedToDeliveredRatio', [9, 2, 1])).to.deep.equal([2, false]);
    expect(judged('PublishedToDeliveredRatio', [9, 5, 0])).to.deep.equal([2, true]);
    expect(judged('PublishedToDeliveredRatio', [9, 0, 5])).to.deep.equal([0, false]);
    expect(judged('PublishedToDeliveredRatio', [9, 0, 0])).to.deep.equal([0, false]);
    expect(judged('ExpectedQueueConsumptionTime', [6, 1, 2])).to.deep.equal([2.5, true]);
    expect(judged('ExpectedQueueConsumptionTime', [5, 1, 2])).to.deep.equal([2, false]);
    expect(judged('ExpectedQueueConsumptionTime', [5, 1, 0])).to.deep.equal([2, true]);
    expect(judged('ExpectedQueueConsumptionTime', [0, 1, 0])).to.deep.equal([2, true]);
    expect(judged('ExpectedQueueConsumptionTime', [5, 0, 0])).to.deep.equal([2, true]);
    expect(judged('ExpectedQueueConsumptionTime', [0, 0, 0])).to.deep.equal([0, false]);
  });
});

const CA = rootCertificates[0] ?? '';

const SCHEMA = z.object(RABBITMQ_CONNECTION);
const GUEST = { username: 'guest', password: 'guest' };

describe('rabbitmqConnectionOf, by AMQP', () => {
  const broker = (given: Readonly<Record<string, string>>) => {
    const connection = rabbitmqConnectionOf(SCHEMA.parse(given));
    return connection.protocol === 'amqp' ? connection.broker : undefined;
  };

  for (const [host, found] of [
    ['amqp://broker', { host: 'broker', port: 5672, login: GUEST, vhost: '/', tls: undefined }],
    [' amqp://broker:5000/team ', { host: 'broker', port: 5000, vhost: 'team', tls: undefined }],
    ['amqp://[fd00::7]/%2F', { host: 'fd00::7', port: 5672, vhost: '/' }],
    ['amqps://broker', { host: 'broker', port: 5671, login: GUEST, tls: { isUnverified: false } }],
    ['amqp://ann:p%2Fw@broker', { login: { username: 'ann', password: 'p/w' } }],
    ['amqp://ann@broker', { login: { username: 'ann', password: '' } }],
  ] as const)
    it(`finds the broker at ${host}`, () => {
      expect(broker({ host })).to.deep.include(found);
    });

  it('takes user, password and virtual host that are given beside the host', () => {
    const given = {
      host: 'amqp://ann:pw@broker/team',
      username: ' bob ',
      password: ' x ',
      vhostName: ' other ',
    };
    expect(broker(given)).to.deep.include({
      ...{ login: { username: 'bob', password: ' x ' }, vhost: 'other' },
    });
  });

  it('sends a certificate if configured, and authenticates by it without a user', () => {
    const files = { ca: CA, cert: 'CERT', key: 'KEY', tls: 'enable' };
    const tls = { ca: CA, cert: 'CERT', key: 'KEY', isUnverified: false };
    expect(broker({ host: 'amqps://broker', ...files })).to.deep.include({ login: undefined, tls });
    expect(broker({ host: 'amqps://ann:pw@broker', ...files })).to.deep.include({
      ...{ login: { username: 'ann', password: 'pw' }, tls },
    });
    const plain = broker({ host: 'amqp://broker', ...files });
    expect(plain).to.deep.include({ login: GUEST, tls: undefined }); // without TLS
    const disabled = broker({ host: 'amqps://broker', ...files, tls: 'disable', unsafeSsl: 'true' });
    expect(disabled).to.deep.include({ login: GUEST, tls: { isUnverified: true } });
    const authority = broker({ host: 'amqps://broker', ca: CA, tls: 'enable' });
    expect(authority?.tls?.ca).to.equal(CA);
    expect(authority?.login).to.deep.equal(GUEST);
    expect(() => broker({ host: 'amqps://broker', ca: 'CA', tls: 'enable' })).to.throw(
      'parameter "ca" has no PEM certificate',
    );
  });

  it('uses the protocol of the scheme, or rejects another', () => {
    expect(broker({ host: 'amqps://broker', protocol: 'amqp' })?.host).to.equal('broker');
    expect(() => broker({ host: 'amqp://broker', protocol: 'http' })).to.throw(
      'parameter "host" must have a scheme of protocol http',
    );
  });
});

describe('rabbitmqConnectionOf, by HTTP', () => {
  const connection = (given: Readonly<Record<string, string>>) => {
    const found = rabbitmqConnectionOf(SCHEMA.parse(given));
    if (found.protocol !== 'http') throw new Error('it is HTTP');
    return { url: found.url.href, vhost: found.vhost, ...found.credentials.current };
  };
  const anonymous = { authorization: undefined, ca: undefined, cert: undefined, key: undefined };

  for (const [host, url, vhost] of [
    ['http://broker:15672', 'http://broker:15672/', '/'],
    ['https://broker', 'https://broker/', '/'],
    ['http://broker/team', 'http://broker/', 'team'],
    ['http://broker/base/below/team%2Fa?x=y', 'http://broker/base/below/', 'team/a'],
    ['http://broker/base/', 'http://broker/base/', '/'],
  ] as const)
    it(`finds the management plugin of ${host}`, () => {
      expect(connection({ host })).to.deep.equal({ url, vhost, ...anonymous });
    });

  it('shows user and password in a header, not in the URL', () => {
    expect(connection({ host: 'http://ann:p%3Aw@broker' })).to.deep.include({
      ...{ url: 'http://broker/', authorization: `Basic ${Buffer.from('ann:p:w').toString('base64')}` },
    });
  });

  it('skips verification and sends a certificate if configured', () => {
    expect(connection({ host: 'https://broker', unsafeSsl: 'true' })).to.deep.include({ isUnverified: true });
    expect(connection({ host: 'https://broker' })).to.not.have.property('isUnverified');
    const files = { ca: CA, cert: 'CERT', key: 'KEY' };
    expect(connection({ host: 'https://broker', tls: 'enable', ...files })).to.deep.include(files);
    expect(connection({ host: 'https://broker', ...files })).to.deep.include(anonymous);
  });

  it('differs by credentials', () => {
    const name = (host: string) => {
      const found = rabbitmqConnectionOf(SCHEMA.parse({ host }));
      return found.protocol === 'http' ? found.credentials.name : '';
    };
    expect(name('http://a:b@broker')).to.equal(name('http://a:b@other'));
    expect(name('http://a:b@broker')).to.not.equal(name('http://a:c@broker'));
  });
});
