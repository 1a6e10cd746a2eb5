import { expect } from 'chai';
import { untilAllowed } from '#lib/autoscaler/allowed-kinds.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';

const GROUP = { group: 'shop.example', version: 'v1' };
const TILLS = { ...GROUP, kind: 'Till', plural: 'tills', namespaced: true };
const SHOPS = { ...GROUP, kind: 'Shop', plural: 'shops', namespaced: false };

describe('untilAllowed', () => {
  let clock: ManualClock;
  let logger: RecordingLogger;
  let ending: AbortController;
  let asked: string[];
  let refusals: Map<string, Error>;

  beforeEach(() => {
    clock = new ManualClock();
    logger = new RecordingLogger();
    ending = new AbortController();
    asked = [];
    refusals = new Map();
  });

  it('comes back at once where all may be listed, and says nothing', async () => {
    await wait();
    expect(asked).to.deep.equal(['tills', 'shops']);
    expect(messages()).to.deep.equal([]);
  });

  it('asks in each of its namespaces, and for what is in none once', async () => {
    await wait(['a', 'b', 'a']);
    expect(asked).to.deep.equal(['namespaces/a/tills', 'namespaces/b/tills', 'shops']);
  });

  it('asks every 30 s, says once what is missing, and that it is not any more', async () => {
    refusals.set('tills', forbidden());
    const waiting = wait();
    await clock.advance(90_000);
    expect(asked).to.deep.equal(['tills', 'tills', 'tills', 'tills']);
    expect(messages()).to.deep.equal(['Waiting for permission to list objects']);
    expect(logger.lines[0]?.fields).to.deep.include({
      controller: 'till',
      path: '/apis/shop.example/v1/tills',
    });
    refusals.clear();
    await clock.advance(30_000);
    await waiting;
    expect(messages().at(-1)).to.equal('The API server lets objects be listed now');
  });

  it('tells an API server that cannot be asked from one that refuses', async () => {
    refusals.set('shops', new Error('unreachable'));
    const waiting = wait();
    await clock.advance(60_000);
    refusals.set('shops', forbidden());
    await clock.advance(60_000);
    expect(messages()).to.deep.equal([
      'Cannot ask whether objects may be listed; it is tried again',
      'Waiting for permission to list objects',
    ]);
    refusals.clear();
    await clock.advance(30_000);
    await waiting;
  });

  it('ends with its signal', async () => {
    refusals.set('tills', forbidden());
    const waiting = wait().catch((error: unknown) => error);
    await clock.advance(1000);
    ending.abort(new Error('the program ends'));
    expect(await waiting).to.have.property('message', 'the program ends');
  });

  async function wait(namespaces: readonly string[] = []): Promise<void> {
    const getJson = async (path: string) => {
      const name = path.replace('/apis/shop.example/v1/', '').replace('?limit=1', '');
      asked.push(name);
      const refusal = refusals.get(name);
      if (refusal) throw refusal;
    };
    const run = { clock, logger, signal: ending.signal, controller: 'till' };
    await untilAllowed([TILLS, SHOPS], { client: { getJson } as never, namespaces, ...run });
  }

  function messages(): readonly string[] {
    return logger.lines.map(({ message }) => message);
  }
});

function forbidden(): ApiError {
  return new ApiError('may not', { statusCode: 403, reason: 'Forbidden', retryAfterMs: undefined });
}
