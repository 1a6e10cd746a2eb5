import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { rabbitmqTrigger } from '#lib/scaled-objects/triggers/rabbitmq.ts';
import { TriggerClients } from '#lib/scaled-objects/triggers/trigger-clients.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { AmqpBrokers } from '#lib/sources/rabbitmq/amqp-brokers.ts';
import { systemClock } from '#lib/time/clock.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { freePort } from '#spec/support/free-port.ts';
import { opening, planned } from '#spec/support/planned-trigger.ts';
import { type RealRabbitmq, startRabbitmq } from '#spec/support/real-rabbitmq.ts';
import { needControllers } from '../control-plane/need-binaries.ts';
import { InstalledAutoscaler } from './installed-autoscaler.ts';
import { deployment } from './scheduled-objects.ts';

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const TIMEOUT_MS = 90_000;

// The steps build on each other.
describe('The trigger rabbitmq, with a real RabbitMQ', function () {
  this.timeout(600_000);
  this.bail(true);

  const stack = new AsyncDisposableStack();
  let broker: RealRabbitmq;

  before(async function () {
    broker = stack.use(await startRabbitmq(this));
  });

  after(() => stack.disposeAsync());

  const amqp = (login = 'guest:guest') => `amqp://${login}@${broker.host}:${broker.amqpPort}`;
  const http = (login = 'guest:guest') => `http://${login}@${broker.host}:${broker.httpPort}`;

  it('counts by AMQP and by the management plugin, and reports missing queues', async () => {
    const base = { clock: systemClock, allowedHosts: new AllowedHosts(['127.0.0.0/8']) };
    const clients = stack.use(new TriggerClients({ ...base, userAgent: 'spec' }));
    const brokers = stack.use(new AmqpBrokers(base));
    const trigger = rabbitmqTrigger({ ...opening(brokers), clients, timeoutMs: 10_000 });
    const request = async (metadata: Record<string, string>) =>
      (await (await planned(trigger, { metadata: { queueName: 'jobs', ...metadata } })).send()).value;
    for (const queue of ['jobs', 'jobs-more', 'other']) await broker.makeQueue(queue);
    await broker.publish('jobs', 3);
    await broker.publish('jobs-more', 1);
    await untilSame(() => request({ host: amqp() }), 3);
    await untilSame(() => request({ host: http() }), 3);
    const expression = { host: http(), useRegex: 'true', queueName: '^jobs' };
    await untilSame(() => request(expression), 4);
    expect(await request({ ...expression, operation: 'max' })).to.equal(3);
    expect(await request({ ...expression, queueName: '^none$' })).to.equal(0);
    expect(await request({ host: http(), mode: 'MessageRate', value: '1' })).to.be.at.least(0);
    expect(await errorOf(request({ host: amqp(), queueName: 'absent' }))).to.match(/: 404 NOT_FOUND/);
    expect(await errorOf(request({ host: http(), queueName: 'absent' }))).to.match(/status 404/);
    expect(await request({ host: amqp() })).to.equal(3);
    const refused = await errorOf(request({ host: amqp('guest:wrong') }));
    expect(refused)
      .to.match(/403 ACCESS_REFUSED/)
      .and.not.contain('wrong');
    expect(await errorOf(request({ host: amqp(), vhostName: 'absent' }))).to.match(/530 NOT_ALLOWED/);
    expect(await errorOf(request({ host: http('guest:wrong') }))).to.match(/status 401/);
    await broker.take('jobs', 3);
  });

  it('scales a Deployment from 0 to 1, to 4, and back to 0 on a real API server', async function () {
    const binaries = await needControllers(this);
    const installed = stack.use(await InstalledAutoscaler.start(binaries, 'autoscaler-scaled-objects'));
    const port = await freePort();
    await installed.expose(port);
    const autoscaler = await installed.startReplica([`--secure-port=${port}`, '--allowed-hosts=127.0.0.0/8']);
    await autoscaler.line(/Serving/, 60_000);
    const apiService = 'apiservice/v1beta1.external.metrics.k8s.io';
    await installed.run('wait', '--for=condition=Available', apiService, '--timeout=60s');
    await installed.grant('get', 'secrets', 'rabbitmq');
    await installed.apply(
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'rabbitmq', namespace: 'default' },
        data: { host: Buffer.from(amqp()).toString('base64') },
      },
      {
        apiVersion: 'keda.sh/v1alpha1',
        kind: 'TriggerAuthentication',
        metadata: { name: 'rabbitmq', namespace: 'default' },
        spec: { secretTargetRef: [{ parameter: 'host', name: 'rabbitmq', key: 'host' }] },
      },
      deployment('web', 0),
      {
        apiVersion: 'keda.sh/v1alpha1',
        kind: 'ScaledObject',
        metadata: { name: 'web', namespace: 'default' },
        spec: {
          scaleTargetRef: { name: 'web' },
          ...{ pollingInterval: 2, cooldownPeriod: 3, maxReplicaCount: 10 },
          advanced: {
            horizontalPodAutoscalerConfig: { behavior: { scaleDown: { stabilizationWindowSeconds: 0 } } },
          },
          triggers: [
            {
              type: 'rabbitmq',
              metadata: { queueName: 'jobs', mode: 'QueueLength', value: '10' },
              authenticationRef: { name: 'rabbitmq' },
            },
          ],
        },
      },
    );
    const replicas = async () =>
      (await installed.controlPlane.client.get<{ spec: { replicas: number } }>(`${DEPLOYMENTS}/web`)).spec
        .replicas;
    expect(await replicas()).to.equal(0);
    await broker.publish('jobs', 1);
    await untilSame(replicas, 1);
    await broker.publish('jobs', 37);
    await untilSame(replicas, 4);
    await broker.take('jobs', 38);
    await untilSame(replicas, 0);
    const output = autoscaler.output.join('\n');
    expect(output).to.not.contain('guest:guest');
  });

  async function untilSame(find: () => Promise<unknown>, expected: number): Promise<void> {
    const startedAtMs = performance.now();
    let found: unknown;
    while (found !== expected) {
      if (performance.now() - startedAtMs > TIMEOUT_MS) throw new Error(`It is ${found}, not ${expected}`);
      found = await find().catch(String);
      await sleep(200);
    }
  }
});
