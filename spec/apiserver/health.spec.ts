import { expect } from 'chai';
import type { ApiServer } from '#lib/apiserver/api-server.ts';
import { requestHttp1 } from '#spec/support/api-request.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

describe('healthEndpoints', () => {
  let server: ApiServer;
  let reason: string | undefined;
  const logger = new RecordingLogger();
  before(async () => {
    server = await startTestApiServer({
      healthChecks: [
        { name: 'own', endpoints: ['readyz'], check: () => reason },
        { name: 'alive', endpoints: ['livez'], check: () => undefined },
      ],
      logger,
    });
  });
  beforeEach(() => {
    reason = undefined;
  });
  after(() => server[Symbol.asyncDispose]());
  const request = async (path: string) => {
    const { status, headers, body } = await requestHttp1({ port: server.address.port, path });
    return { status, type: headers['content-type'], text: body.toString() };
  };

  it('responds with ok, and with all checks on request', async () => {
    expect(await request('/readyz')).to.deep.equal({
      status: 200,
      type: 'text/plain; charset=utf-8',
      text: 'ok',
    });
    expect((await request('/readyz?verbose')).text).to.equal(
      '[+]ping ok\n[+]log ok\n[+]poststarthook/max-in-flight-filter ok\n' +
        '[+]poststarthook/storage-object-count-tracker-hook ok\n[+]own ok\n[+]shutdown ok\nreadyz check passed\n',
    );
  });

  it('fails with its check, and reports the reason in the log and at the path of that check', async () => {
    reason = 'nothing to serve';
    const { status, text } = await request('/readyz');
    expect(status).to.equal(500);
    expect(text)
      .to.include('[-]own failed: reason withheld\n')
      .and.match(/readyz check failed\n$/);
    expect(logger.lines).to.deep.include({
      level: 'info',
      message: 'Health check failed',
      fields: { endpoint: 'readyz', failures: 'own: nothing to serve' },
      verbosity: 2,
    });
    expect(await request('/readyz/own')).to.deep.equal({
      status: 500,
      type: 'text/plain; charset=utf-8',
      text: 'internal server error: nothing to serve\n',
    });
    expect((await request('/livez')).status).to.equal(200);
    expect((await request('/healthz')).status).to.equal(200);
  });

  it('passes without the check that is excluded, and warns of those that there are not', async () => {
    reason = 'nothing to serve';
    const { status, text } = await request('/readyz?verbose&exclude=own&exclude=nope&exclude=none');
    expect(status).to.equal(200);
    expect(text).to.include('[+]own excluded: ok\n');
    expect(text).to.include('warn: some health checks cannot be excluded: no matches for "none","nope"\n');
  });

  it('has a path for each check of its endpoint', async () => {
    const statuses = await Promise.all(
      [
        '/livez/ping',
        '/livez/alive',
        '/readyz/alive',
        '/livez/own',
        '/healthz/poststarthook/max-in-flight-filter',
      ].map(async (path) => (await request(path)).status),
    );
    expect(statuses).to.deep.equal([200, 200, 404, 404, 200]);
  });
});
