import { expect } from 'chai';
import { requestHttp1 } from '#spec/support/api-request.ts';
import { eventually } from '#spec/support/eventually.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { runServer } from '#spec/support/running-server.ts';

const PATH = '/apis/metrics.k8s.io/v1beta1/nodes';
const BAD_TOKEN = 'a-token-that-is-invalid';

describe('secrets', () => {
  it('are not sent to the target of a redirect', async () => {
    await using elsewhere = await LoopbackServer.start((_, response) => void response.end('{}'));
    await using server = await runServer({ nodes: 2, podsPerNode: 1 });
    const location = new URL('/stats/summary', elsewhere.url).href;
    await server.cluster.setFault('node-1', { status: 301, headers: { location } });
    await server.clock.advance(400);
    await server.scraped(1);
    await eventually(() => server.logger.lines.some(({ message }) => message.includes('HTTP status 301')));
    expect(elsewhere.requests).to.deep.equal([]);
  });

  it('are in no log line, series or response', async () => {
    await using server = await runServer({ nodes: 2, podsPerNode: 1 }, ['-v=10']);
    const { cluster } = server;
    const port = Number(new URL(server.origin).port);
    const request = (token: string) =>
      requestHttp1({ port, path: PATH, headers: { authorization: `Bearer ${token}` } });
    await cluster.setFault('node-1', { status: 500 });
    await server.clock.advance(400);
    await server.scraped(1);
    const responses = [await request(cluster.metricsServerToken), await request(BAD_TOKEN)];
    expect(responses.map(({ status }) => status)).to.deep.equal([403, 401]);
    cluster.authenticator.revokeToken(cluster.metricsServerToken);
    await server.clock.advance(20_000);
    responses.push(await request('another'), await request(cluster.metricsServerToken));
    const { body } = await server.get('/metrics');
    const everything = [
      body,
      JSON.stringify(server.logger.lines),
      ...responses.map((one) => String(one.body)),
    ];
    for (const secret of [cluster.metricsServerToken, BAD_TOKEN, 'Bearer', 'PRIVATE KEY']) {
      expect(everything.join('\n')).not.to.include(secret);
    }
    expect(
      server.logger.lines.some(({ message }) => message === 'Unable to authenticate the request'),
    ).to.equal(true);
  });
});
