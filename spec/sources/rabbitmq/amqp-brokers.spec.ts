import type { Socket } from 'node:net';
import { expect } from 'chai';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { type AmqpBroker, AmqpBrokers } from '#lib/sources/rabbitmq/amqp-brokers.ts';
import { encodeMethod, encodeShortString, METHODS, u16, u32 } from '#lib/sources/rabbitmq/amqp-connection.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { eventually } from '#spec/support/eventually.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { type BrokerBehaviour, type PlayedBroker, playBroker } from '#spec/support/played-broker.ts';

describe('AmqpBrokers', () => {
  let clock: ManualClock;
  let brokers: AmqpBrokers;
  let stack: AsyncDisposableStack;
  const never = new AbortController().signal;

  beforeEach(() => {
    clock = new ManualClock();
    stack = new AsyncDisposableStack();
    brokers = stack.use(new AmqpBrokers({ clock, allowedHosts: new AllowedHosts(['127.0.0.0/8']) }));
  });

  afterEach(() => stack.disposeAsync());

  const play = async (behaviour: BrokerBehaviour = {}) => {
    const broker = stack.use(await playBroker(behaviour));
    broker.queues.set('jobs', 7);
    return broker;
  };
  const at = ({ server }: PlayedBroker, more: Partial<AmqpBroker> = {}): AmqpBroker => ({
    ...{ host: '127.0.0.1', port: server.port, vhost: '/', tls: undefined },
    login: { username: 'guest', password: 'hidden' },
    ...more,
  });
  const send = async (broker: AmqpBroker, queue = 'jobs', signal = never) =>
    (await brokers.queueLength(broker, queue).run(signal))[0]?.value;

  it('reads the length of a queue over one connection with one channel', async () => {
    const broker = await play();
    broker.queues.set('other', 4_000_000_000);
    expect(await Promise.all([send(at(broker)), send(at(broker), 'other'), send(at(broker))])).to.deep.equal([
      7, 4_000_000_000, 7,
    ]);
    expect(broker.server.sockets).to.have.length(1);
    expect(broker.observed.filter((id) => id === METHODS.channelOpen)).to.have.length(1);
  });

  it('authenticates with user and vhost without exposing the password', async () => {
    const broker = await play();
    const requested = at(broker, { vhost: 'work' });
    await send(requested);
    expect(broker.observed.find((observed) => observed.startsWith(METHODS.startOk))).to.match(
      /PLAIN .*guest hidden .*en_US/,
    );
    expect(broker.observed).to.include(`${METHODS.open}  work `);
    const { key, description } = brokers.queueLength(requested, 'jobs');
    expect(key + description).to.not.contain('hidden');
  });

  it('reports a missing queue, and continues over the same connection', async () => {
    const broker = await play();
    expect(await errorOf(send(at(broker), 'absent'))).to.equal(
      `Cannot read the length of queue absent at 127.0.0.1:${broker.server.port}: 404 NOT_FOUND - no queue 'absent'`,
    );
    const both = await Promise.allSettled([send(at(broker), 'absent'), send(at(broker))]);
    expect(both[1]).to.deep.equal({ status: 'fulfilled', value: 7 });
    expect(broker.server.sockets).to.have.length(1);
  });

  it('reports why a broker rejects the login', async () => {
    const refuse = (socket: Socket) =>
      void socket.write(
        encodeMethod(0, METHODS.close, u16(403), encodeShortString('ACCESS_REFUSED - no'), u16(0), u16(0)),
      );
    const broker = await play({ [METHODS.startOk]: refuse });
    expect(await errorOf(send(at(broker)))).to.match(/: 403 ACCESS_REFUSED - no$/);
    await eventually(() => broker.server.openSockets.length === 0);
    broker.behaviour = {};
    expect(await send(at(broker))).to.equal(7);
  });

  it('connects again after the connection was cut', async () => {
    const broker = await play();
    await send(at(broker));
    broker.server.sockets[0]?.destroy();
    await eventually(async () => (await send(at(broker)).catch(() => 0)) === 7);
    expect(broker.server.sockets).to.have.length(2);
  });

  it('closes the connection to a silent broker after ten seconds', async () => {
    const broker = await play({ header: () => {} });
    const failed = errorOf(send(at(broker)));
    await eventually(() => broker.observed.length === 1);
    await clock.advance(10_000);
    expect(await failed).to.match(/no connection within 10s$/);
    await eventually(() => broker.server.openSockets.length === 0);
  });

  it('opens another connection for the next request when a queue hangs', async () => {
    const broker = await play({ [METHODS.queueDeclare]: () => {} });
    const given = new AbortController();
    const hanging = errorOf(send(at(broker), 'jobs', given.signal));
    await eventually(() => broker.observed.includes(METHODS.queueDeclare));
    given.abort(new Error('too late'));
    expect(await hanging).to.equal('too late');
    broker.behaviour = {};
    expect(await send(at(broker))).to.equal(7);
  });

  it('closes the connection to a broker that sends invalid or endless frames', async () => {
    const heartbeat = Buffer.from([8, 0, 0, 0, 0, 0, 0, 0xce]);
    const floods = {
      'a frame of 4 GB': (socket: Socket) => socket.write(Buffer.from([1, 0, 1, 255, 255, 255, 255, 0])),
      'no frame': (socket: Socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
      'another version': (socket: Socket) => socket.write(Buffer.from([...Buffer.from('AMQP'), 0, 1, 0, 0])),
      heartbeats: (socket: Socket) => socket.write(Buffer.alloc(2 * 1024 * 1024, heartbeat)),
      'a wrong end': (socket: Socket) => socket.write(Buffer.from([8, 0, 0, 0, 0, 0, 0, 0])),
      'another method': (socket: Socket) => socket.write(encodeMethod(1, METHODS.openOk)),
      'no count': (socket: Socket) =>
        socket.write(encodeMethod(1, METHODS.queueDeclareOk, Buffer.from([200]))),
    };
    for (const [what, flood] of Object.entries(floods)) {
      const broker = await play({ [METHODS.queueDeclare]: (socket) => void flood(socket) });
      const reported = await errorOf(send(at(broker)));
      expect(reported, what).to.match(
        /not valid AMQP|does not speak|longer than 262144|no pending request|no message count/,
      );
      if (what !== 'no count') await eventually(() => broker.server.openSockets.length === 0);
    }
  });

  it("limits a broker's data per request, not in total", async () => {
    const heartbeats = Buffer.alloc(200 * 1024, Buffer.from([8, 0, 0, 0, 0, 0, 0, 0xce]));
    const count = encodeMethod(1, METHODS.queueDeclareOk, encodeShortString('jobs'), u32(7), u32(0));
    const broker = await play({
      [METHODS.queueDeclare]: (socket) => void socket.write(Buffer.concat([heartbeats, count])),
    });
    for (let request = 0; request < 3; request++) expect(await send(at(broker))).to.equal(7);
    expect(broker.server.sockets).to.have.length(1);
  });

  it('closes a connection with an unexpected frame', async () => {
    const broker = await play();
    await send(at(broker));
    broker.server.sockets[0]?.write(
      encodeMethod(1, METHODS.queueDeclareOk, encodeShortString('a'), u16(0), u16(0)),
    );
    await eventually(() => broker.server.openSockets.length === 0);
  });

  it('authenticates by its client certificate without a login', async () => {
    const authority = new TestAuthority('spec-ca');
    const { cert, key } = authority.leaf({ usages: ['serverAuth'], names: ['127.0.0.1'] });
    const tls = { cert, key, ca: authority.pem, requestCert: true, rejectUnauthorized: true };
    const broker = stack.use(await playBroker({}, tls));
    broker.queues.set('jobs', 3);
    const client = authority.leaf();
    const existing = { ca: authority.pem, ...client, isUnverified: false };
    expect(await send(at(broker, { login: undefined, tls: existing }))).to.equal(3);
    expect(broker.observed.find((observed) => observed.startsWith(METHODS.startOk))).to.match(/EXTERNAL/);
    expect(await errorOf(send(at(broker, { tls: { isUnverified: false } })))).to.match(/certificate|issuer/);
  });

  it('rejects addresses that are not allowed, and too long names', async () => {
    const broker = await play();
    expect(await errorOf(send(at(broker, { host: '10.1.2.3' })))).to.match(/10\.1\.2\.3 is not allowed/);
    expect(await errorOf(send(at(broker), 'a'.repeat(256)))).to.match(/is longer than 255 bytes$/);
    expect(await send(at(broker))).to.equal(7);
  });
});
