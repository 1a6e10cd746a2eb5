import { expect } from 'chai';
import { awsSqsQueueTrigger } from '#lib/scaled-objects/triggers/aws-sqs-queue.ts';
import { type SqsRegionOptions, SqsRegions } from '#lib/sources/http-apis/sqs-queue.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { opening, planned } from '#spec/support/planned-trigger.ts';
import { SqsEmulator } from '#spec/support/sqs-emulator.ts';
import { triggerClients } from '#spec/support/trigger-clients.ts';

describe('awsSqsQueueTrigger, with an emulator of SQS', () => {
  const stack = new AsyncDisposableStack();
  const trigger = awsSqsQueueTrigger({
    ...opening(stack.use(new SqsRegions())),
    clients: stack.use(triggerClients()),
  });
  let emulator: SqsEmulator;
  let url: string;

  before(async () => {
    emulator = stack.use(await SqsEmulator.start());
    url = await emulator.createQueue('jobs');
    for (let sent = 0; sent < 4; sent++) await emulator.send(url);
    await emulator.receive(url);
    for (let sent = 0; sent < 2; sent++) await emulator.send(url, { delaySeconds: 600 });
  });

  after(() => stack.disposeAsync());

  const keys = { awsAccessKeyID: 'key', awsSecretAccessKey: 'hidden' };
  const plan = (metadata: Record<string, string> = {}, authentication: Record<string, string> = keys) =>
    planned(trigger, {
      metadata: { queueURL: url, awsRegion: 'eu-central-1', awsEndpoint: emulator.url.href, ...metadata },
      authentication,
    });

  it('counts waiting and in-flight messages, and delayed ones if configured', async () => {
    const metric = await plan();
    expect(metric).to.include({ name: 'aws-sqs-jobs', target: 5 });
    expect(await metric.send()).to.deep.equal({ value: 4, isActive: true });
    const waiting = await plan({ queueURL: 'jobs', scaleOnInFlight: 'false', activationQueueLength: '3' });
    expect(waiting.name).to.equal('aws-sqs-jobs');
    expect(await waiting.send()).to.deep.equal({ value: 3, isActive: false });
    expect((await (await plan({ scaleOnDelayed: 'true' })).send()).value).to.equal(6);
    expect(metric.query.key + metric.query.description).to.not.contain('hidden');
  });

  it('signs with the keys of the trigger, and as the operator only where it is the identity owner', async () => {
    const regions = new RecordingRegions();
    await using _regions = regions;
    await using clients = triggerClients();
    const signing = awsSqsQueueTrigger({ ...opening(regions), clients });
    const metadata = { queueURL: 'jobs', awsRegion: 'eu-central-1' };
    await planned(signing, { metadata, authentication: { ...keys, awsSessionToken: 'lent' } });
    await planned(signing, { metadata: { ...metadata, identityOwner: 'pod' }, authentication: keys });
    await planned(signing, { metadata: { ...metadata, identityOwner: 'operator' } });
    await planned(signing, { metadata: { ...metadata, identityOwner: 'operator' }, authentication: keys });
    expect(regions.credentials).to.deep.equal([
      { accessKeyId: 'key', secretAccessKey: 'hidden', sessionToken: 'lent' },
      { accessKeyId: 'key', secretAccessKey: 'hidden' },
      undefined,
      undefined,
    ]);
  });

  it('shows the identity of the operator to no endpoint that a tenant names', async () => {
    await using server = await LoopbackServer.start((_, response) => void response.end('{}'));
    const operator = { identityOwner: 'operator', queueURL: 'jobs' };
    for (const endpoint of [server.url.href, 'https://evil.example/', 'https://sqs.eu.evilamazonaws.com/'])
      expect(await errorOf(plan({ ...operator, awsEndpoint: endpoint }))).to.match(
        /must not receive the AWS identity of this program: identityOwner operator requires an HTTPS endpoint of SQS/,
      );
    expect(server.requests).to.deep.equal([]);
    const metric = await plan({ ...operator, awsEndpoint: 'https://sqs.eu-central-1.amazonaws.com' });
    expect(metric.name).to.equal('aws-sqs-jobs');
  });

  it('names the invalid parameter', async () => {
    const refusal = (metadata: Record<string, string>, authentication?: Record<string, string>) =>
      errorOf(plan(metadata, authentication));
    expect(await refusal({ queueURL: '' })).to.match(/^missing required parameter "queueURL"/);
    for (const queueURL of ['https://sqs', 'https://sqs/jobs', 'https://sqs/1/jobs/more', 'https://sqs/1/'])
      expect(await refusal({ queueURL })).to.equal('cannot get queueName from queueURL');
    expect(await refusal({ awsRegion: '' })).to.match(/^missing required parameter "awsRegion"/);
    expect(await refusal({ awsRegion: 'a.example/#' })).to.match(/must be a region such as eu-central-1$/);
    expect(await refusal({ awsEndpoint: 'ftp://a' })).to.match(/must be a URL that begins with http/);
    expect(await refusal({ queueLength: '0' })).to.match(/must be greater than 0$/);
    expect(await refusal({ queueLength: 'many' })).to.match(/not a whole number$/);
    expect(await refusal({ scaleOnInFlight: 'some' })).to.match(/neither true nor false$/);
    expect(await refusal({ identityOwner: 'nobody' })).to.match(/must be one of \[pod operator\]$/);
    expect(await refusal({}, {})).to.equal('awsAccessKeyID not found');
    expect(await refusal({}, { awsAccessKeyId: 'key' })).to.equal('awsSecretAccessKey not found');
    expect(await refusal({}, { ...keys, awsRoleArn: 'arn' })).to.equal(
      'parameter "awsRoleArn" is not supported',
    );
  });

  it('names a missing queue and a missing attribute', async () => {
    expect(await errorOf((await plan({ queueURL: 'none' })).send())).to.match(
      /queue "none" .*does not exist/,
    );
    await using empty = await LoopbackServer.start((_, response) => void response.end('{}'));
    expect(await errorOf((await plan({ awsEndpoint: empty.url.href })).send())).to.match(
      /metric ApproximateNumberOfMessagesNotVisible not found in SQS queue attributes$/,
    );
  });
});

/** Records the credentials that sign requests; `undefined` are those of the process. */
class RecordingRegions extends SqsRegions {
  readonly credentials: SqsRegionOptions['credentials'][] = [];

  override for(options: SqsRegionOptions) {
    this.credentials.push(options.credentials);
    return super.for(options);
  }
}
