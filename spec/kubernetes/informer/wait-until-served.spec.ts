import { expect } from 'chai';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import type { KindReference, RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { findHpas, untilAllowed, untilServed } from '#lib/kubernetes/informer/wait-until-served.ts';
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

const V2 = { group: 'autoscaling', version: 'v2', kind: 'a', plural: 'b', namespaced: true };

describe('findHpas', () => {
  for (const [served, found] of [
    [['autoscaling/v1', 'autoscaling/v2beta2', 'autoscaling/v2'], 'autoscaling/v2'],
    [['autoscaling/v1', 'autoscaling/v2beta1', 'autoscaling/v2beta2'], 'autoscaling/v2beta2'],
  ] as const)
    it(`takes HPAs of ${found} where ${served.join(', ')} are served`, async () => {
      const mapper = {
        async findExact({ apiVersion, kind }: KindReference) {
          const [group = '', version = ''] = apiVersion.split('/');
          const isServed = served.some((one) => one === apiVersion);
          return isServed
            ? { group, version, kind, plural: 'horizontalpodautoscalers', namespaced: true }
            : undefined;
        },
      };
      const { signal } = new AbortController();
      const options = { mapper, clock: new ManualClock(), logger: new RecordingLogger(), signal };
      const { group, version, kind } = await findHpas(options);
      expect([`${group}/${version}`, kind]).to.deep.equal([found, 'HorizontalPodAutoscaler']);
    });

  it('goes on asking where the API server does not tell or has none, and says each of both once', async () => {
    const [clock, logger] = [new ManualClock(), new RecordingLogger()];
    const { signal } = new AbortController();
    let says: 'nothing' | 'none' | 'v2' = 'nothing';
    const mapper = {
      async findExact({ apiVersion }: { readonly apiVersion: string }) {
        if (says === 'nothing') throw new Error('it is down');
        return says === 'v2' && apiVersion === 'autoscaling/v2' ? V2 : undefined;
      },
    };
    const finding = findHpas({ mapper, clock, logger, signal });
    await clock.advance(30_000);
    says = 'none';
    await clock.advance(30_000);
    says = 'v2';
    await clock.advance(10_000);
    expect(await finding).to.equal(V2);
    expect(logger.lines.map(({ message }) => message)).to.deep.equal([
      'Cannot find out in which version HPAs are served; it is tried again',
      'The API server serves no HPAs that know metrics; they are waited for',
    ]);
  });
});
