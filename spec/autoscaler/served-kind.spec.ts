import { expect } from 'chai';
import { untilServed } from '#lib/autoscaler/served-kind.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

const KIND = { apiVersion: 'shop.example/v1', kind: 'Till' };
const RESOURCE: ApiResource = {
  group: 'shop.example',
  version: 'v1',
  kind: 'Till',
  plural: 'tills',
  namespaced: true,
};

describe('untilServed', () => {
  let found: () => ApiResource | undefined;
  let looks: number;
  let clock: ManualClock;
  let logger: RecordingLogger;
  let ending: AbortController;

  beforeEach(() => {
    looks = 0;
    clock = new ManualClock();
    logger = new RecordingLogger();
    ending = new AbortController();
  });

  it('comes back at once where the kind is served, and says nothing', async () => {
    found = () => RESOURCE;
    await wait();
    expect([looks, logger.lines.length]).to.deep.equal([1, 0]);
  });

  it('looks every ten seconds, says once that it waits, and that it need not any more', async () => {
    found = () => undefined;
    const waiting = wait();
    await clock.advance(60_000);
    expect(looks).to.equal(7);
    expect(messages()).to.deep.equal(['Waiting for a kind that the API server does not serve']);
    found = () => RESOURCE;
    await clock.advance(10_000);
    await waiting;
    expect(messages().at(-1)).to.equal('The API server serves the kind now');
  });

  it('says once that it cannot ask, and again what it is when it can', async () => {
    found = () => {
      throw new Error('unreachable');
    };
    const waiting = wait();
    await clock.advance(30_000);
    expect(messages()).to.deep.equal(['Cannot ask which kinds the API server serves; it is tried again']);
    found = () => undefined;
    await clock.advance(30_000);
    expect(messages()).to.have.length(2);
    found = () => RESOURCE;
    await clock.advance(10_000);
    await waiting;
  });

  it('ends with its signal, whether it asks or waits', async () => {
    found = () => undefined;
    const waiting = wait().catch((error: unknown) => error);
    await clock.advance(1000);
    ending.abort(new Error('the program ends'));
    expect(await waiting).to.have.property('message', 'the program ends');
  });

  function wait(): Promise<void> {
    const mapper: Pick<RestMapper, 'findExact'> = {
      findExact: async () => {
        looks++;
        return found();
      },
    };
    return untilServed(KIND, { mapper, clock, logger, signal: ending.signal, controller: 'till' });
  }

  function messages(): readonly string[] {
    return logger.lines.map(({ message }) => message);
  }
});
