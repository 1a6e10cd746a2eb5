import { ServerCredentials } from '@grpc/grpc-js';
import { expect } from 'chai';
import { externalTrigger } from '#lib/scaled-objects/triggers/external.ts';
import type { TriggerRequest } from '#lib/scaled-objects/triggers/trigger.ts';
import { ExternalScalers } from '#lib/sources/external-scaler/external-scalers.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { systemClock } from '#lib/time/clock.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { eventually } from '#spec/support/eventually.ts';
import { ExternalScalerServer, type ScalerResponses } from '#spec/support/external-scaler-server.ts';
import { TestAuthority } from '#spec/support/issued-certificates.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { opening, planned } from '#spec/support/planned-trigger.ts';
import { RawServer } from '#spec/support/raw-server.ts';

const ONE: ScalerResponses = {
  specs: [{ metricName: 'queue', targetSize: 5 }],
  values: [{ metricName: 'queue', metricValue: 12 }],
  isActive: true,
};

describe('externalTrigger, with a real gRPC server', () => {
  let stack: AsyncDisposableStack;
  let clock: ManualClock;
  let scalers: ExternalScalers;
  const never = new AbortController().signal;

  beforeEach(() => {
    stack = new AsyncDisposableStack();
    clock = new ManualClock();
    scalers = stack.use(
      new ExternalScalers({ clock: systemClock, allowedHosts: new AllowedHosts(['127.0.0.0/8']) }),
    );
  });

  afterEach(() => stack.disposeAsync());

  const start = async (responses: ScalerResponses, options: object = {}) =>
    stack.use(await ExternalScalerServer.start({ ...responses }, options));
  const plan = (server: { readonly port: number }, request: Partial<TriggerRequest> = {}) =>
    planned(externalTrigger({ ...opening(scalers), clock }), {
      ...request,
      metadata: { scalerAddress: `127.0.0.1:${server.port}`, ...request.metadata },
    });

  it('queries a metric, its values and its activity, and sends the metadata of the trigger', async () => {
    const server = await start(ONE);
    const metric = await plan(server, {
      metadata: { depth: '3', userFromEnv: 'USER_NAME', absentFromEnv: 'ABSENT' },
      environment: { USER_NAME: 'alice' },
      authentication: { password: 'hidden' },
    });
    expect(metric).to.include({ name: 'queue', isNameVerbatim: true, target: 5 });
    expect(await metric.send()).to.deep.equal({ value: 12, isActive: true });
    expect(server.calls.map(({ method }) => method).sort()).to.deep.equal(
      ['GetMetricSpec', 'GetMetrics', 'IsActive'].sort(),
    );
    const sent = {
      scalerAddress: `127.0.0.1:${server.port}`,
      ...{ depth: '3', userFromEnv: 'alice' },
    };
    expect(server.calls[0]?.request).to.deep.equal({
      name: 'web',
      namespace: 'default',
      scalerMetadata: sent,
    });
    expect(server.calls.find(({ method }) => method === 'GetMetrics')?.request).to.deep.equal({
      scaledObjectRef: { name: 'web', namespace: 'default', scalerMetadata: sent },
      metricName: 'queue',
    });
    expect(metric.query.key + metric.query.description).to.not.contain('alice');
  });

  it('takes numbers with a fraction, of several metrics and with several values', async () => {
    const server = await start({
      specs: [
        { metricName: 'a', targetSize: 1, targetSizeFloat: 2.5 },
        { metricName: 'b', targetSize: 7 },
      ],
      values: [{ metricValueFloat: 0.5 }, { metricValue: 3 }],
      isActive: false,
    });
    const { metrics } = await externalPlan(server);
    expect(metrics.map(({ name, target }) => [name, target])).to.deep.equal([
      ['a', 2.5],
      ['b', 7],
    ]);
    const samples = (await metrics[0]?.query.run(never)) ?? [];
    expect(metrics[0]?.evaluate(samples)).to.deep.equal({ values: [0.5, 3], isActive: false });
  });

  it('reports unusable responses of a scaler', async () => {
    const server = await start(ONE);
    const reported = async (responses: ScalerResponses) => {
      server.responses = { ...ONE, ...responses };
      return await errorOf(plan(server, { metadata: { at: JSON.stringify(responses).slice(0, 100) } }));
    };
    const reports = (specs: readonly object[]) => reported({ specs });
    expect(await reports([])).to.match(/^got empty metric spec: .*returned no metrics/);
    expect(await reports([{ metricName: 'a/b', targetSize: 1 }])).to.match(
      /returned the invalid metric name /,
    );
    expect(await reports([{ metricName: '', targetSize: 1 }])).to.match(/returned the invalid metric name /);
    expect(await reports([{ metricName: 'a' }])).to.match(
      /^the scaler at \S+:\d+ returned no target for metric "a"$/,
    );
    expect(await reports([{ metricName: 'a', targetSize: -1 }])).to.match(/the negative target -1/);
    expect(await reports([{ metricName: 'a', targetSizeFloat: Number.NaN }])).to.match(
      /"a" is NaN, not a number/,
    );
    expect(await reports([{ metricName: 'a'.repeat(2000), targetSize: 1 }])).to.match(
      /a name is longer than/,
    );
    const many = Array.from({ length: 101 }, (_, index) => ({ metricName: `a${index}`, targetSize: 1 }));
    expect(await reports(many)).to.match(/has more than 100 metrics/);
    expect(await reported({ error: { code: 7, details: 'not you' } })).to.match(
      /^got empty metric spec: Cannot call GetMetricSpec of 127\.0\.0\.1:\d+: not you$/,
    );
  });

  it('accepts names that resemble values of variables, and redacts such values in errors', async () => {
    const server = await start(ONE);
    const request = (at: string) => ({
      metadata: { queueNameFromEnv: 'QUEUE', at },
      environment: { QUEUE: 'orders-queue' },
    });
    for (const metricName of ['orders-queue', 'orders-queue-length', 'length-of-orde']) {
      server.responses = { ...ONE, specs: [{ metricName, targetSize: 5 }] };
      const metric = await plan(server, request(metricName));
      expect(metric).to.include({ name: metricName, target: 5 });
      expect(metric.query.description).not.to.contain('orde');
      expect((await metric.send()).value).to.equal(12);
    }
    for (const spec of [{ metricName: 'a/orders-queue', targetSize: 5 }, { metricName: 'a-orders-queue' }]) {
      server.responses = { ...ONE, specs: [spec] };
      expect(await errorOf(plan(server, request(spec.metricName)))).to.match(
        /^the scaler at \S+ returned .*"a.…"/,
      );
    }
  });

  it('takes a metric without target where a formula has one', async () => {
    const server = await start({ ...ONE, specs: [{ metricName: 'a' }] });
    expect(await plan(server, { hasFormula: true })).to.include({ name: 'a', target: 0 });
  });

  it('fails with the scaler, and queries it again afterwards', async () => {
    const server = await start(ONE);
    const metric = await plan(server);
    server.responses = { error: { code: 13, details: 'broken' } };
    expect(await errorOf(metric.send())).to.match(/^Cannot call (GetMetrics|IsActive) of .*: broken$/);
    server.responses = { ...ONE, values: [] };
    expect(await errorOf(metric.send())).to.match(
      /^the scaler at \S+:\d+ returned no value for metric "queue"$/,
    );
    server.responses = ONE;
    expect((await metric.send()).value).to.equal(12);
  });

  it('finds a server again that was cut', async () => {
    const server = await start(ONE);
    const metric = await plan(server);
    await metric.send();
    await server[Symbol.asyncDispose]();
    expect(await errorOf(metric.send())).to.match(/^Cannot call .* of 127\.0\.0\.1:\d+: /);
    await start({ ...ONE, values: [{ metricValue: 13 }] }, { port: server.port });
    await eventually(async () => (await metric.send().catch(() => ({ value: 0 }))).value === 13);
  });

  it('retains the metrics of a scaler if it is prepared again while that is down', async () => {
    const server = await start(ONE);
    const trigger = externalTrigger({ ...opening(scalers), clock });
    const again = () => planned(trigger, { metadata: { scalerAddress: `127.0.0.1:${server.port}` } });
    await again();
    await server[Symbol.asyncDispose]();
    const metric = await again();
    expect(metric).to.include({ name: 'queue', target: 5 });
    expect(await errorOf(metric.send())).to.match(/^Cannot call /);
  });

  it('waits a second for a server that hangs, and the next time not at all', async () => {
    const server = await start({});
    const trigger = externalTrigger({ ...opening(scalers), clock });
    const again = () =>
      errorOf(planned(trigger, { metadata: { scalerAddress: `127.0.0.1:${server.port}` } }));
    const first = again();
    await eventually(() => server.calls.length === 1);
    await clock.advance(1000);
    expect(await first).to.match(/has not returned its metrics yet$/);
    const second = again();
    await clock.advance(0);
    expect(await second).to.match(/has not returned its metrics yet$/);
    expect(server.calls).to.have.length(1);
  });

  it('ends a call without a caller', async () => {
    const { values: _, ...silent } = ONE;
    const server = await start(silent);
    const plannedMetric = (await externalPlan(server)).metrics[0];
    const given = new AbortController();
    const requested = errorOf(plannedMetric?.query.run(given.signal) ?? Promise.resolve());
    await eventually(() => server.calls.some(({ method }) => method === 'GetMetrics'));
    given.abort(new Error('too late'));
    expect(await requested).to.equal('too late');
  });

  it('reads no message that is longer than a mebibyte', async () => {
    const values = [{ metricName: 'a'.repeat(100 * 1024 * 1024), metricValue: 1 }];
    const server = await start({ ...ONE, values });
    const metric = await plan(server);
    const before = process.memoryUsage().arrayBuffers;
    expect(await errorOf(metric.send())).to.match(/larger than max|message/i);
    expect(process.memoryUsage().arrayBuffers - before).to.be.below(1024 * 1024 * 1024);
  });

  it('uses TLS with certificates, and skips verification only if configured', async () => {
    const authority = new TestAuthority('spec-ca');
    const { cert, key } = authority.leaf({ usages: ['serverAuth'], names: ['127.0.0.1'] });
    const pair = { cert_chain: Buffer.from(cert), private_key: Buffer.from(key) };
    const server = await start(ONE, {
      tls: ServerCredentials.createSsl(Buffer.from(authority.pem), [pair], true),
    });
    const client = authority.leaf();
    const tls = { caCert: authority.pem, tlsClientCert: client.cert, tlsClientKey: client.key };
    expect((await (await plan(server, { authentication: tls })).send()).value).to.equal(12);
    const { caCert: _, ...withoutAuthority } = tls;
    expect(await errorOf(plan(server, { authentication: withoutAuthority }))).to.match(
      /^got empty metric spec: /,
    );
    const unsafe = { authentication: withoutAuthority, metadata: { unsafeSsl: 'true' } };
    expect((await (await plan(server, unsafe)).send()).value).to.equal(12);
    expect(await errorOf(plan(server, { authentication: { caCert: authority.pem } }))).to.match(
      /^got empty metric spec: /,
    );
    expect(await errorOf(plan(server, { authentication: { ...tls, tlsClientKey: '' } }))).to.equal(
      'tlsClientCert and tlsClientKey must be set together',
    );
    const broken = { ...tls, tlsClientKey: 'no PEM' };
    expect(await errorOf(plan(server, { authentication: broken }))).to.match(/^got empty metric spec: /);
    const locked = '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----';
    const encrypted = { ...tls, tlsClientKey: locked };
    expect(await errorOf(plan(server, { authentication: encrypted }))).to.match(
      /^Cannot read parameter "tlsClientKey" without a passphrase/,
    );
  });

  it('does not call a forbidden server, whatever its name', async () => {
    const findAddresses = async () => ['169.254.169.254'];
    const open = stack.use(
      new ExternalScalers({ clock: systemClock, allowedHosts: new AllowedHosts([]), findAddresses }),
    );
    for (const scalerAddress of ['scaler.example:80', '169.254.169.254:80', '[::1]:80']) {
      const requested = planned(externalTrigger({ ...opening(open), clock }), {
        metadata: { scalerAddress },
      });
      expect(await errorOf(requested)).to.match(/is not allowed/);
    }
  });

  it('rejects an invalid address', async () => {
    for (const scalerAddress of ['scaler', 'scaler:', ':80', 'scaler:0', 'scaler:70000', 'http://a:80'])
      expect(
        await errorOf(
          planned(externalTrigger({ ...opening(scalers), clock }), { metadata: { scalerAddress } }),
        ),
      ).to.equal(`parameter "scalerAddress" value "${scalerAddress}" must be host:port`);
    expect(await errorOf(planned(externalTrigger({ ...opening(scalers), clock }), {}))).to.equal(
      'missing required parameter "scalerAddress" in [triggerMetadata]',
    );
  });

  it('has no server delay another', async () => {
    const silent = stack.use(await RawServer.start(() => {}));
    const server = await start(ONE);
    const trigger = externalTrigger({ ...opening(scalers), clock });
    const hanging = errorOf(planned(trigger, { metadata: { scalerAddress: `127.0.0.1:${silent.port}` } }));
    const metric = await planned(trigger, { metadata: { scalerAddress: `127.0.0.1:${server.port}` } });
    expect((await metric.send()).value).to.equal(12);
    await clock.advance(1000);
    expect(await hanging).to.match(/has not returned its metrics yet$/);
  });

  describe('that pushes', () => {
    const watch = async (server: ExternalScalerServer) => {
      const { push } = await externalPlan(server, 'external-push');
      if (!push) throw new Error('it does not push');
      const ended = new AbortController();
      const received: number[] = [];
      const watching = push.subscribe(() => received.push(received.length), ended.signal);
      return { received, ended, watching };
    };

    it('is watched, and only true messages count', async () => {
      const server = await start(ONE);
      const { received, ended, watching } = await watch(server);
      await eventually(() => server.streams.size === 1);
      server.push(false);
      server.push(true);
      await eventually(() => received.length === 1);
      ended.abort(new Error('done'));
      await watching;
      await eventually(() => server.streams.size === 0);
    });

    it('is followed again after it was cut, and after it has ended', async () => {
      const server = await start(ONE);
      const { received, ended, watching } = await watch(server);
      await eventually(() => server.streams.size === 1);
      await server[Symbol.asyncDispose]();
      const next = await start(ONE, { port: server.port });
      await eventually(() => next.streams.size === 1);
      next.push(true);
      await eventually(() => received.length === 1);
      next.endStreams();
      await eventually(() => next.streams.size === 1);
      next.push(true);
      await eventually(() => received.length === 2);
      ended.abort(new Error('done'));
      await watching;
    });

    it('is not followed where it does not push', async () => {
      const server = await start(ONE);
      expect((await externalPlan(server)).push).to.equal(undefined);
    });
  });

  async function externalPlan(server: { readonly port: number }, type = 'external') {
    const made = await externalTrigger({ ...opening(scalers), clock }).plan(
      {
        ...{ type, scaler: 'web', namespace: 'default', objectKind: 'ScaledObject', objectName: 'web' },
        ...{ metricType: undefined, hasFormula: false, authentication: {}, environment: {} },
        metadata: { scalerAddress: `127.0.0.1:${server.port}` },
      },
      never,
    );
    if (made.kind !== 'external') throw new Error('it asks nobody');
    return made;
  }
});
