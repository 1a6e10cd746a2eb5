import { createServer } from 'node:http';
import { expect } from 'chai';
import { natsJetstreamTrigger } from '#lib/scaled-objects/triggers/nats-jetstream.ts';
import { TriggerClients } from '#lib/scaled-objects/triggers/trigger-clients.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { systemClock } from '#lib/time/clock.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { eventually } from '#spec/support/eventually.ts';
import { freePort } from '#spec/support/free-port.ts';
import { requireProgram } from '#spec/support/machine-programs.ts';
import { planned } from '#spec/support/planned-trigger.ts';
import { RawServer } from '#spec/support/raw-server.ts';
import { startNats } from '#spec/support/real-nats.ts';
import { triggerClients } from '#spec/support/trigger-clients.ts';

describe('natsJetstreamTrigger', () => {
  let stack: AsyncDisposableStack;
  let trigger: ReturnType<typeof natsJetstreamTrigger>;

  beforeEach(() => {
    stack = new AsyncDisposableStack();
    const base = { clock: systemClock, allowedHosts: new AllowedHosts(['127.0.0.0/8']), userAgent: 'spec' };
    const clients = new TriggerClients(base);
    trigger = natsJetstreamTrigger({ clients: stack.use(clients), timeoutMs: 60_000 });
  });

  afterEach(() => stack.disposeAsync());

  const plan = (endpoint: string, more: Record<string, string> = {}) =>
    planned(trigger, {
      metadata: {
        natsServerMonitoringEndpoint: endpoint,
        ...{ account: '$G', stream: 'ORDERS', consumer: 'workers', ...more },
      },
    });

  it('gives a server up that never responds, within the time of one request', async () => {
    const server = stack.use(await RawServer.start((socket) => socket.resume()));
    trigger = natsJetstreamTrigger({ clients: stack.use(triggerClients()), timeoutMs: 20 });
    const error = await errorOf((await plan(`127.0.0.1:${server.port}`)).send());
    expect(error).to.equal(`Cannot query 127.0.0.1:${server.port}: no response within 20ms`);
  });

  it('names the invalid parameter', async () => {
    const refusal = (metadata: Record<string, string>) => errorOf(plan('nats:8222', metadata));
    expect(await refusal({ account: '' })).to.equal('no account name or id given');
    expect(await refusal({ stream: '' })).to.match(/^missing required parameter "stream"/);
    expect(await refusal({ consumer: '' })).to.match(/^missing required parameter "consumer"/);
    expect(await refusal({ lagThreshold: '1.5' })).to.match(/not a whole number$/);
    expect(await refusal({ lagThreshold: '0' })).to.match(/must be greater than 0$/);
    expect(await refusal({ useHttps: 'maybe' })).to.match(/neither true nor false$/);
    expect(await errorOf(plan('nats'))).to.match(/must be host:port$/);
    expect(await errorOf(plan('http://nats:8222'))).to.match(/must be host:port$/);
  });

  describe('of servers that are played', () => {
    type Reported = Readonly<Record<string, unknown>>;
    const play = async (host: string, port: number, reported: (path: string) => Reported | undefined) => {
      const requested: string[] = [];
      const server = createServer((request, response) => {
        requested.push(request.url ?? '');
        const body = reported((request.url ?? '').split('?')[0] ?? '');
        response.writeHead(body ? 200 : 404).end(JSON.stringify(body ?? {}));
      });
      await new Promise<void>((resolve) => server.listen(port, host, resolve));
      stack.defer(() => {
        server.closeAllConnections();
        return new Promise((resolve) => void server.close(() => resolve()));
      });
      return requested;
    };
    const details = (consumers: readonly object[], more: Reported = {}) => ({
      ...more,
      account_details: [
        { name: 'TEAM', id: 'AB', stream_detail: [{ name: 'ORDERS', consumer_detail: consumers }] },
        { name: '$G', id: '$G', stream_detail: [{ name: 'ORDERS', consumer_detail: consumers }] },
      ],
    });

    it('adds pending and unacknowledged messages, of an account by name or ID', async () => {
      const port = await freePort();
      const body = details([{ name: 'workers', num_pending: 4, num_ack_pending: 3 }]);
      const requested = await play('127.0.0.1', port, (path) => (path === '/jsz' ? body : undefined));
      const metric = await plan(`127.0.0.1:${port}`, { account: 'AB', activationLagThreshold: '7' });
      expect(metric).to.include({ name: 'nats-jetstream-ORDERS', target: 10 });
      expect(await metric.send()).to.deep.equal({ value: 7, isActive: false });
      expect(requested).to.deep.equal(['/jsz?acc=AB&config=true&consumers=true']);
      expect((await (await plan(`127.0.0.1:${port}`)).send()).isActive).to.equal(true);
      const missing = async (more: Record<string, string>) =>
        await errorOf((await plan(`127.0.0.1:${port}`, more)).send());
      expect(await missing({ consumer: 'none' })).to.equal('consumer "none" not found in stream "ORDERS"');
      expect(await missing({ stream: 'NONE' })).to.equal('stream not found');
      expect(await missing({ account: 'NONE' })).to.equal('stream not found');
    });

    it('reports what cannot be read', async () => {
      const port = await freePort();
      let body: Reported | undefined;
      await play('127.0.0.1', port, () => body);
      const metric = await plan(`127.0.0.1:${port}`);
      expect(await errorOf(metric.send())).to.match(/status 404/);
      for (const wrong of [{ account_details: 7 }, details([{ name: 'workers' }])]) {
        body = wrong;
        expect(await errorOf(metric.send())).to.equal(
          'the response is not a valid response of a NATS monitoring endpoint',
        );
      }
      body = details([{ name: 'workers', num_pending: -1, num_ack_pending: 0 }]);
      expect(await errorOf(metric.send())).to.match(/not a valid response of/);
    });

    it('finds the leader, caches it, and finds the next one', async () => {
      const port = await freePort();
      let leader = 'b';
      const urls = ['127.0.0.2:4222', '127.0.0.3:4222', '10.1.2.3:4222', 'no host at all:1'];
      const node = (name: string, pending: number) => (path: string) =>
        path === '/varz'
          ? { server_name: name, connect_urls: urls }
          : details([{ name: 'workers', num_pending: pending, num_ack_pending: 0, cluster: { leader } }], {
              meta_cluster: { cluster_size: 3 },
            });
      const first = await play('127.0.0.1', port, node('a', 1));
      const second = await play('127.0.0.2', port, node('b', 2));
      await play('127.0.0.3', port, node('c', 3));
      const metric = await plan(`127.0.0.1:${port}`);
      expect((await metric.send()).value).to.equal(2);
      const [before, requested] = [first.length, second.length];
      expect((await metric.send()).value).to.equal(2);
      expect([first.length, second.length]).to.deep.equal([before, requested + 2]);
      leader = 'c';
      expect((await metric.send()).value).to.equal(3);
      leader = 'a';
      expect((await metric.send()).value).to.equal(1);
      leader = 'nobody';
      expect(await errorOf(metric.send())).to.equal('leader node not found for consumer workers');
    });
  });

  describe('of a real nats-server', () => {
    it('reads the lag as messages arrive, are delivered and are acknowledged', async function () {
      const [server] = await startNats(await requireProgram(this, 'nats-server'));
      if (!server) throw new Error('no server');
      stack.use(server);
      await fill(server, 1);
      const metric = await plan(`${server.host}:${server.monitoringPort}`, { lagThreshold: '5' });
      await eventually(async () => (await metric.send()).value === 7);
      await server.take('ORDERS', 'workers', 3, false);
      expect((await metric.send()).value).to.equal(7);
      await server.take('ORDERS', 'workers', 4);
      await eventually(async () => (await metric.send()).value === 3);
      const absent = await plan(`${server.host}:${server.monitoringPort}`, { account: 'NONE' });
      expect(await errorOf(absent.send())).to.match(/stream not found|status 4/);
    });

    it('queries the leader of a cluster of three', async function () {
      const binary = await requireProgram(this, 'nats-server');
      const servers = await startNats(binary, ['127.0.0.1', '127.0.0.2', '127.0.0.3']);
      const [first] = servers;
      if (!first) throw new Error('no servers');
      stack.use(first);
      await fill(first, 3);
      for (const { host, monitoringPort } of servers) {
        const metric = await plan(`${host}:${monitoringPort}`);
        await eventually(async () => (await metric.send().catch(() => ({ value: 0 }))).value === 7);
      }
    });

    async function fill(
      server: { request(subject: string, body?: object): Promise<object> },
      replicas: number,
    ): Promise<void> {
      const stream = { name: 'ORDERS', subjects: ['orders'], num_replicas: replicas, storage: 'memory' };
      const api = async (subject: string, body: object) =>
        !('error' in (await server.request(subject, body)));
      await eventually(() => api('$JS.API.STREAM.CREATE.ORDERS', stream));
      const config = { durable_name: 'workers', ack_policy: 'explicit' };
      await eventually(() =>
        api('$JS.API.CONSUMER.DURABLE.CREATE.ORDERS.workers', { stream_name: 'ORDERS', config }),
      );
      for (let order = 0; order < 7; order++) await server.request('orders', { order });
    }
  });
});
