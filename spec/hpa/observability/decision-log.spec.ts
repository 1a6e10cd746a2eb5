import { expect } from 'chai';
import type { Outcome } from '#lib/hpa/decision/decision.ts';
import type { MetricExplanation } from '#lib/hpa/decision/evaluate-metrics.ts';
import { LoadHistory } from '#lib/hpa/observability/decision-log.ts';
import { explainedAt, followedWeb } from '#spec/hpa/min-replicas/built-decision.ts';
import { memoryInUse } from '#spec/support/held-resources.ts';
import { TOLD_AT_MS, ToldHpas } from './reported-hpas.ts';

const MINUTE_MS = 60_000;

describe('DecisionLog', () => {
  it('knows since when a metric is missing and since when it asks for all, until neither is so', () => {
    const told = new ToldHpas();
    const since = (minute: number, facts: object) => {
      told.decided('shop/web', TOLD_AT_MS + minute * MINUTE_MS, facts);
      const { missingSinceMs, atMaxSinceMs } = told.log.find('shop/web') ?? expect.fail('it was decided');
      return [missingSinceMs, atMaxSinceMs].map((ms) => ms && (ms - TOLD_AT_MS) / MINUTE_MS);
    };
    expect(since(1, {})).to.deep.equal([undefined, undefined]);
    expect(since(2, { ratio: null })).to.deep.equal([2, undefined]);
    expect(since(3, { ratio: null, desiredReplicas: 100 })).to.deep.equal([2, 3]);
    expect(since(4, { desiredReplicas: 100 })).to.deep.equal([undefined, 3]);
    expect(since(5, { desiredReplicas: 99 })).to.deep.equal([undefined, undefined]);
    since(6, { ratio: null, desiredReplicas: 100 });
    told.log.steppedAside('shop/web', { manager: 'other', writtenAtMs: 0 }, TOLD_AT_MS);
    const { missingSinceMs, atMaxSinceMs, explanation } =
      told.log.find('shop/web') ?? expect.fail('it is known');
    expect([missingSinceMs, atMaxSinceMs]).to.deep.equal([undefined, undefined]);
    expect(explanation?.desiredReplicas).to.equal(100); // what was decided last is told on
    expect(since(7, {})).to.deep.equal([undefined, undefined]);
    expect(told.log.find('shop/web')?.other).to.equal(undefined);
  });

  it('knows that a metric is missing where others are there', () => {
    const { log } = new ToldHpas();
    const [read, failed] = [1, undefined].map((ratio) => explainedAt(ratio, { minReplicas: 2 }));
    if (!read || !failed) throw new Error('both are explained');
    const decided = (metrics: typeof read.metrics) => {
      const outcome = { explanation: { ...read, atMs: TOLD_AT_MS, metrics } } as unknown as Outcome;
      log.record('default/web', outcome, { hpa: followedWeb({ minReplicas: 2 }), isDryRun: false });
      return log.find('default/web')?.missingSinceMs;
    };
    expect(decided([...read.metrics, ...failed.metrics])).to.equal(TOLD_AT_MS);
    expect(decided([...read.metrics, ...read.metrics])).to.equal(undefined);
    expect(decided([])).to.equal(undefined);
  });

  it('keeps the last fifty decisions, and the loads of as many', () => {
    const told = new ToldHpas();
    for (let place = 0; place < 51; place++) told.decided('shop/web', TOLD_AT_MS + place, { ratio: place });
    const found = told.log.find('shop/web') ?? expect.fail('it was decided');
    expect(found.decisions.map(({ atMs }) => atMs - TOLD_AT_MS)).to.deep.equal(
      Array.from({ length: 50 }, (_, place) => place + 1),
    );
    expect(found.loads?.ratiosOf(0)).to.deep.equal(Array.from({ length: 50 }, (_, place) => place + 1));
    told.log.steppedAside('shop/web', { manager: 'other', writtenAtMs: 0 }, TOLD_AT_MS);
    const aside = told.log.find('shop/web');
    expect(aside?.decisions).to.have.lengthOf(50);
    expect(aside?.loads?.ratiosOf(0).slice(-2)).to.deep.equal([50, undefined]);
  });

  it('tells of a decision what came of it, and of an error as much as a line holds', () => {
    const told = new ToldHpas();
    const latest = () => told.log.find('shop/web')?.decisions.at(-1);
    const decided = { atMs: TOLD_AT_MS, step: 'metrics', currentReplicas: 2, proposedReplicas: 2 };
    told.decided('shop/web', TOLD_AT_MS);
    expect(latest()).to.deep.equal({ ...decided, desiredReplicas: 2, isScaled: false });
    told.decided('shop/web', TOLD_AT_MS, { desiredReplicas: 3, isScaled: true, error: 'x'.repeat(500) });
    expect(latest()).to.deep.equal({
      ...decided,
      desiredReplicas: 3,
      isScaled: true,
      error: 'x'.repeat(500),
    });
    told.decided('shop/web', TOLD_AT_MS, {
      desiredReplicas: 3,
      isScaled: true,
      isDryRun: true,
      statusSays: 3,
    });
    expect(latest()).to.deep.equal({ ...decided, desiredReplicas: 3, isScaled: false, agrees: true });
    told.decided('shop/web', TOLD_AT_MS, { error: 'x'.repeat(501) });
    expect(latest()?.error).to.equal(`${'x'.repeat(500)}… and 1 more characters`);
    expect(told.log.find('shop/web')).to.not.have.property('problem');
    told.decided('shop/web', TOLD_AT_MS, { problem: 'odd' });
    expect(told.log.find('shop/web')).to.have.property('problem', 'odd');
  });

  it('holds of a long error no more than it tells', async () => {
    const told = new ToldHpas();
    const before = await memoryInUse();
    for (let place = 0; place < 50; place++)
      told.decided('shop/web', TOLD_AT_MS + place, { error: built(`no value ${place} of `, 200_000) });
    expect((await memoryInUse()) - before).to.be.below(2_000_000); // a fifth of the errors
    expect(told.log.find('shop/web')?.decisions).to.have.lengthOf(50);
  });

  it('holds an error once that goes on and on, as where no metrics are served', async () => {
    const told = new ToldHpas();
    const keys = Array.from({ length: 200 }, (_, place) => `shop/web-${place}`);
    for (const key of keys) told.decided(key, TOLD_AT_MS);
    const before = await memoryInUse();
    for (let place = 1; place <= 50; place++)
      for (const key of keys) told.decided(key, TOLD_AT_MS + place, { error: built(`${key}: `, 450) });
    expect((await memoryInUse()) - before).to.be.below(3_000_000); // the errors of all decisions are 4.5 MB
    expect(told.log.find('shop/web-7')?.decisions.map(({ error }) => error?.slice(0, 12))).to.deep.equal(
      Array.from({ length: 50 }, () => 'shop/web-7: '),
    );
  });

  it('forgets one that is gone, and all where nothing is decided any more', () => {
    const told = new ToldHpas();
    for (const key of ['shop/a', 'shop/b', 'bank/c']) told.decided(key, TOLD_AT_MS);
    told.log.forget('shop/a');
    expect([...told.log.values()].map(({ namespace, name }) => `${namespace}/${name}`)).to.deep.equal([
      ...['shop/b', 'bank/c'],
    ]);
    expect(told.log.size).to.equal(2);
    told.log.clear();
    expect([told.log.size, told.log.find('shop/b')]).to.deep.equal([0, undefined]);
  });
});

/** A text with memory of its own, as what is decided makes a new one each time. */
function built(beginning: string, length: number): string {
  return Buffer.from(beginning.padEnd(length, 'x')).toString();
}

/** Metrics as far as their history looks at them. */
function metrics(ratios: Readonly<Record<string, number | undefined>>): readonly MetricExplanation[] {
  return Object.entries(ratios).map(
    ([name, ratio]) => ({ name, ...(ratio !== undefined && { proposal: { ratio } }) }) as MetricExplanation,
  );
}

describe('LoadHistory', () => {
  it('has the latest decisions, the oldest first, and nothing where a metric was unknown or not looked at', () => {
    const history = new LoadHistory(['cpu', 'queue'], 3);
    history.record(metrics({ cpu: 0.25, queue: 1 }));
    expect(history.ratiosOf(0)).to.deep.equal([0.25]);
    history.record(metrics({ cpu: 0.5, queue: undefined }));
    history.record([]);
    history.record(metrics({ cpu: 2, queue: 0 }));
    expect(history.ratiosOf(0)).to.deep.equal([0.5, undefined, 2]);
    expect(history.ratiosOf(1)).to.deep.equal([undefined, undefined, 0]);
    expect(JSON.parse(JSON.stringify(history))).to.deep.equal([
      { metric: 'cpu', ratios: [0.5, null, 2] },
      { metric: 'queue', ratios: [null, null, 0] },
    ]);
  });

  it('goes on while the metrics are the same or were not looked at, and begins again with others', () => {
    const before = LoadHistory.after(undefined, metrics({ cpu: 1 }), 3);
    before.record(metrics({ cpu: 1 }));
    expect(LoadHistory.after(before, metrics({ cpu: 2 }), 3)).to.equal(before);
    expect(LoadHistory.after(before, [], 3)).to.equal(before);
    const other = LoadHistory.after(before, metrics({ cpu: 1, queue: 1 }), 3);
    expect(other.metrics).to.deep.equal(['cpu', 'queue']);
    expect(other.ratiosOf(0)).to.deep.equal([]);
  });

  it('keeps a bounded number of metrics', () => {
    const many = metrics(Object.fromEntries(Array.from({ length: 1000 }, (_, place) => [`m${place}`, 1])));
    const history = LoadHistory.after(undefined, many, 3);
    history.record(many);
    expect(history.metrics).to.have.lengthOf(20);
    expect(LoadHistory.after(history, many, 3)).to.equal(history);
  });
});
