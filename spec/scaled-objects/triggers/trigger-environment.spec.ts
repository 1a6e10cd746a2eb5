import { expect } from 'chai';
import { runForTenant } from '#lib/concurrency/tenant.ts';
import { openTriggerEnvironment } from '#lib/scaled-objects/triggers/trigger-environment.ts';
import { fixedCredentials } from '#lib/sources/http/http-credentials.ts';
import { AdmittedResponses } from '#spec/support/admitted-responses.ts';
import { eventually } from '#spec/support/eventually.ts';
import { LoopbackServer } from '#spec/support/loopback-server.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

const LONG = Buffer.alloc(128 * 1024);

describe('openTriggerEnvironment', () => {
  it('opens a source once for all triggers that use it, and disposes of it', async () => {
    const environment = openTriggerEnvironment({
      ...{ clock: new ManualClock(), userAgent: 'spec', timeoutMs: 1000, findAddresses: undefined },
      ...{ allowedHosts: [], listPods: async () => [], listEndpoints: async () => [] },
    });
    const events: string[] = [];
    const openSource = ({ timeoutMs }: { readonly timeoutMs: number }) => {
      events.push(`opened with ${timeoutMs}`);
      return { [Symbol.dispose]: () => void events.push('disposed') };
    };
    expect(environment.open(openSource)).to.equal(environment.open(openSource));
    expect(events).to.deep.equal(['opened with 1000']);
    await environment[Symbol.asyncDispose]();
    expect(events).to.deep.equal(['opened with 1000', 'disposed']);
  });

  it('reads eight long responses of a namespace at once, whatever hosts and credentials they have', async () => {
    const servers = await Promise.all(
      Array.from({ length: 10 }, () =>
        LoopbackServer.start(({ url }, response) => {
          response.write(LONG);
          if (url.pathname === '/whole') response.end();
        }),
      ),
    );
    await using _servers = ended(servers);
    const longResponses = new AdmittedResponses();
    await using sources = openTriggerEnvironment({
      ...{ clock: new ManualClock(), userAgent: 'spec', timeoutMs: 1000, findAddresses: undefined },
      longResponses,
      ...{ allowedHosts: ['127.0.0.1'], listPods: async () => [], listEndpoints: async () => [] },
    });
    const leaving = new AbortController();
    const read = (tenant: string, index: number, path: string) =>
      runForTenant(tenant, async () => {
        const http = sources.clients.find(fixedCredentials({ authorization: `${tenant} ${index}` }));
        return await http.read({ url: new URL(path, servers[index]?.url) }, leaving.signal);
      });
    const endless = Array.from({ length: 8 }, (_, index) => read('greedy', index, '/').catch(() => {}));
    await eventually(() => longResponses.admitted.length === 8);
    const ninth = read('greedy', 8, '/whole').catch(() => {});
    await eventually(() => longResponses.waitingCount === 1);
    expect(await read('other', 9, '/whole')).to.have.length(LONG.length);
    expect(longResponses.admitted.at(-1)).to.equal('other');
    expect(longResponses.waitingCount).to.equal(1);
    leaving.abort(new Error('gone'));
    await Promise.all([...endless, ninth]);
  });
});

function ended(all: readonly AsyncDisposable[]): AsyncDisposable {
  const stack = new AsyncDisposableStack();
  for (const one of all) stack.use(one);
  return stack;
}
