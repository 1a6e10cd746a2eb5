import { expect } from 'chai';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { waitUntilServed } from '#lib/kubernetes/informer/wait-until-served.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

const KIND = { group: 'shop.example', kind: 'Till', versions: ['v2', 'v1'] };
const TILLS = { group: 'shop.example', kind: 'Till', plural: 'tills', namespaced: true };

describe('waitUntilServed', () => {
  let served: ReadonlySet<string> | Error;
  let requested: string[];
  let clock: ManualClock;
  let logger: RecordingLogger;
  let ending: AbortController;

  beforeEach(() => {
    requested = [];
    clock = new ManualClock();
    logger = new RecordingLogger();
    ending = new AbortController();
  });

  for (const [versions, chosen] of [
    [['v1'], 'v1'],
    [['v0', 'v1', 'v2'], 'v2'],
  ] as const)
    it(`returns ${chosen} at once where ${versions} are served, and logs nothing`, async () => {
      serve(...versions);
      expect(await wait()).to.have.property('version', chosen);
      expect(logger.lines).to.deep.equal([]);
    });

  it('polls every ten seconds, and logs once that it waits, and once that it no longer does', async () => {
    serve('v0');
    const waiting = wait();
    await clock.advance(60_000);
    expect(requested).to.have.lengthOf(7 * KIND.versions.length);
    expect(messages()).to.deep.equal(['Waiting for a kind that the API server does not serve']);
    expect(logger.lines[0]?.fields).to.deep.equal({
      kind: 'Till',
      apiVersion: 'shop.example/v2, shop.example/v1',
    });
    serve('v1');
    await clock.advance(10_000);
    await waiting;
    expect(messages().at(-1)).to.equal('The API server serves the kind now');
  });

  it('logs once that discovery fails, and the missing kinds once it succeeds', async () => {
    served = new Error('unreachable');
    const waiting = wait();
    await clock.advance(30_000);
    expect(messages()).to.deep.equal(['Cannot discover kinds of the API server; retrying']);
    serve();
    await clock.advance(30_000);
    expect(messages()).to.have.length(2);
    serve('v2');
    await clock.advance(10_000);
    await waiting;
  });

  it('ends with its signal, whether it requests or waits', async () => {
    serve();
    const waiting = wait().catch((error: unknown) => error);
    await clock.advance(1000);
    ending.abort(new Error('the program ends'));
    expect(await waiting).to.have.property('message', 'the program ends');
  });

  function serve(...versions: readonly string[]): void {
    served = new Set(versions.map((version) => `shop.example/${version}`));
  }

  async function wait(): Promise<ApiResource> {
    const mapper: Pick<RestMapper, 'findExact'> = {
      findExact: async ({ apiVersion }) => {
        requested.push(apiVersion);
        if (served instanceof Error) throw served;
        return served.has(apiVersion) ? { ...TILLS, version: apiVersion.split('/')[1] ?? '' } : undefined;
      },
    };
    return await waitUntilServed(KIND, { mapper, clock, logger, signal: ending.signal });
  }

  function messages(): readonly string[] {
    return logger.lines.map(({ message }) => message);
  }
});
