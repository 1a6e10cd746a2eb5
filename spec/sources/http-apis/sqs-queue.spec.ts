import { expect } from 'chai';
import { HttpClient } from '#lib/sources/http/http-client.ts';
import { SqsRegion, SqsRegions } from '#lib/sources/http-apis/sqs-queue.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { SqsEmulator } from '#spec/support/sqs-emulator.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

const signal = new AbortController().signal;

describe('SqsRegion, with an emulator of SQS', () => {
  let stack: AsyncDisposableStack;
  let emulator: SqsEmulator;
  let region: SqsRegion;

  before(async () => {
    stack = new AsyncDisposableStack();
    emulator = stack.use(await SqsEmulator.start());
    region = regionAt(emulator.url, stack, KEYS);
  });
  after(() => stack.disposeAsync());

  it('counts the available messages, and others as configured', async () => {
    const url = await emulator.createQueue('jobs');
    await emulator.send(url);
    await emulator.receive(url);
    for (let sent = 0; sent < 3; sent++) await emulator.send(url);
    for (let sent = 0; sent < 2; sent++) await emulator.send(url, { delaySeconds: 600 });
    const lengthOf = async (...query: Parameters<SqsRegion['queueLength']>) =>
      await region.queueLength(...query).run(signal);
    expect(await lengthOf({ name: 'jobs' })).to.deep.equal([{ value: 3, labels: {} }]);
    expect(await lengthOf({ name: 'jobs' }, ['waiting', 'in flight'])).to.deep.equal([
      { value: 4, labels: {} },
    ]);
    expect(await lengthOf({ url }, ['waiting', 'in flight', 'delayed'])).to.deep.equal([
      { value: 6, labels: {} },
    ]);
  });

  it('reports a missing queue, and finds it once it exists', async () => {
    const query = region.queueLength({ name: 'later' });
    expect(await errorOf(query.run(signal))).to.match(
      /^Cannot read the length of queue "later" of SQS in eu-central-1: .*does not exist/,
    );
    await emulator.createQueue('later');
    expect(await query.run(signal)).to.deep.equal([{ value: 0, labels: {} }]);
  });

  it('queries only the endpoint of its region, whatever the URL of a queue', async () => {
    await using other = await LoopbackServer.start((_, response) => void response.end('{}'));
    await emulator.createQueue('mine');
    const url = new URL('/000000000000/mine', other.url).href;
    expect(await region.queueLength({ url }).run(signal)).to.deep.equal([{ value: 0, labels: {} }]);
    expect(other.requests).to.deep.equal([]);
  });

  it('has the same key for equal queries alone, without secrets', () => {
    const { key, source } = region.queueLength({ name: 'a' });
    expect(source).to.equal('sqs.eu-central-1');
    expect(key).to.equal(region.queueLength({ name: 'a' }, ['waiting']).key);
    expect(key).not.to.equal(region.queueLength({ name: 'b' }).key);
    expect(key).not.to.equal(region.queueLength({ name: 'a' }, ['delayed']).key);
    expect(key).not.to.include('secret');
  });

  const falseReports: readonly (readonly [
    string,
    (response: { end(text: string): unknown }) => unknown,
    RegExp,
  ])[] = [
    ['no number', (to) => to.end(attributes('many')), /ApproximateNumberOfMessages is "many", not a count$/],
    ['infinity', (to) => to.end(attributes('1e400')), /ApproximateNumberOfMessages is "1e400", not a count$/],
    [
      'nothing',
      (to) => to.end('{}'),
      /metric ApproximateNumberOfMessages not found in SQS queue attributes$/,
    ],
    ['too much', (to) => to.end('a'.repeat(300_000)), /the response is longer than 262144 bytes/],
  ];
  for (const [what, respond, error] of falseReports)
    it(`has no result where a peer sends ${what}`, async () => {
      await using liar = await LoopbackServer.start((_, response) => void respond(response));
      await using own = new AsyncDisposableStack();
      const query = regionAt(liar.url, own, KEYS).queueLength({ url: 'http://sqs/1/a' });
      expect(await errorOf(query.run(signal))).to.match(error);
    });

  it('has its own identity from STS where the environment has a role and a token', async () => {
    await using directory = await TemporaryDirectory.create();
    const sts = `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>
      <AccessKeyId>lent</AccessKeyId><SecretAccessKey>b</SecretAccessKey><SessionToken>c</SessionToken>
      <Expiration>2999-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;
    await using server = await LoopbackServer.start(({ url, headers }, response) => {
      response.end(
        url.pathname.startsWith('/sts')
          ? sts
          : attributes(/lent/.test(headers.authorization ?? '') ? '7' : '0'),
      );
    });
    const environment = {
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/reader',
      AWS_WEB_IDENTITY_TOKEN_FILE: await directory.write('token', 'token'),
      AWS_ENDPOINT_URL_STS: new URL('/sts', server.url).href,
    };
    Object.assign(process.env, environment);
    try {
      await using own = new AsyncDisposableStack();
      const region = regionAt(server.url, own, undefined);
      const query = region.queueLength({ url: 'http://sqs/1/a' });
      expect(await query.run(signal)).to.deep.equal([{ value: 7, labels: {} }]);
    } finally {
      for (const name of Object.keys(environment)) delete process.env[name];
    }
  });

  it('ends with its signal', async () => {
    const ending = new AbortController();
    await using silent = await LoopbackServer.start(() => ending.abort(new Error('enough')));
    await using own = new AsyncDisposableStack();
    const query = regionAt(silent.url, own, KEYS).queueLength({ name: 'a' });
    expect(await errorOf(query.run(ending.signal))).to.equal('enough');
  });
});

const KEYS = { accessKeyId: 'key', secretAccessKey: 'secret' };

function regionAt(
  endpoint: URL,
  stack: AsyncDisposableStack,
  credentials: typeof KEYS | undefined,
): SqsRegion {
  const allowedHosts = new AllowedHosts(['127.0.0.1']);
  const http = stack.use(new HttpClient({ clock: new ManualClock(), allowedHosts, userAgent: 'spec' }));
  return stack.use(new SqsRegion({ http, region: 'eu-central-1', endpoint, credentials }));
}

function attributes(count: string): string {
  return JSON.stringify({ Attributes: { ApproximateNumberOfMessages: count } });
}

describe('SqsRegions', () => {
  it('caches clients of 100 credentials, and callers with evicted ones continue with their own', async () => {
    await using emulator = await SqsEmulator.start();
    await emulator.createQueue('jobs');
    await using http = new HttpClient({
      ...{ clock: new ManualClock(), userAgent: 'spec/1', timeoutMs: 1e12 },
      allowedHosts: new AllowedHosts(['127.0.0.0/8']),
    });
    await using regions = new SqsRegions();
    const regionOf = (secretAccessKey: string) =>
      regions.for({
        ...{ http, region: 'eu-central-1', endpoint: emulator.url },
        credentials: { ...emulator.credentials, secretAccessKey },
      });
    const first = regionOf('first');
    const query = first.queueLength({ name: 'jobs' });
    const { signal } = new AbortController();
    expect(await query.run(signal)).to.deep.equal([{ value: 0, labels: {} }]);
    for (let other = 0; other < 99; other++) regionOf(`other-${other}`);
    expect(regionOf('first')).to.equal(first);
    for (let other = 0; other < 100; other++) regionOf(`other-${other}`);
    expect(regionOf('first')).not.to.equal(first);
    expect(await query.run(signal)).to.deep.equal([{ value: 0, labels: {} }]);
  });
});
