import { expect } from 'chai';
import { HttpClient } from '#lib/sources/http/http-client.ts';
import { AllowedHosts } from '#lib/sources/network/allowed-hosts.ts';
import { SqsRegions } from '#lib/sources/sqs/sqs-regions.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { SqsEmulator } from '#spec/support/sqs-emulator.ts';

describe('SqsRegions', () => {
  it('keeps clients of 100 credentials, and who asks with older ones goes on with its own', async () => {
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
    expect(await query.ask(signal)).to.deep.equal([{ value: 0, labels: {} }]);
    for (let other = 0; other < 99; other++) regionOf(`other-${other}`);
    expect(regionOf('first')).to.equal(first);
    for (let other = 0; other < 100; other++) regionOf(`other-${other}`);
    expect(regionOf('first')).not.to.equal(first);
    expect(await query.ask(signal)).to.deep.equal([{ value: 0, labels: {} }]);
  });
});
