import { expect } from 'chai';
import type { Outcome } from '#lib/hpa/decision/decision.ts';
import type { MetricExplanation } from '#lib/hpa/decision/evaluate-metrics.ts';
import { LoadHistory } from '#lib/hpa/observability/decision-log.ts';
import { explainedAt, webHpa } from '#spec/hpa/min-replicas/built-decision.ts';
import { memoryInUse } from '#spec/support/open-resources.ts';
import { DECIDED_AT_MS, ReportedHpas } from './reported-hpas.ts';

const MINUTE_MS = 60_000;

describe('DecisionLog', () => {
  it('records since when a metric is missing or the maximum is proposed', () => {
    const reported = new ReportedHpas();
    const since = (minute: number, facts: object) => {
      reported.decided('shop/web', DECIDED_AT_MS + minute * MINUTE_MS, facts);
      const { missingSinceMs, atMaxSinceMs } = reported.log.find('shop/web') ?? expect.fail('it was decided');
      return [missingSinceMs, atMaxSinceMs].map((ms) => ms && (ms - DECIDED_AT_MS) / MINUTE_MS);
    };
    expect(since(1, {})).to.deep.equal([undefined, undefined]);
    expect(since(2, { ratio: null })).to.deep.equal([2, undefined]);
    expect(since(3, { ratio: null, desiredReplicas: 100 })).to.deep.equal([2, 3]);
    expect(since(4, { desiredReplicas: 100 })).to.deep.equal([undefined, 3]);
    expect(since(5, { desiredReplicas: 99 })).to.deep.equal([undefined, undefined]);
    since(6, { ratio: null, desiredReplicas: 100 });
    reported.log.recordExternal('shop/web', { manager: 'other', writtenAtMs: 0 }, DECIDED_AT_MS);
    const { missingSinceMs, atMaxSinceMs, explanation } =
      reported.log.find('shop/web') ?? expect.fail('it is known');
    expect([missingSinceMs, atMaxSinceMs]).to.deep.equal([undefined, undefined]);
    expect(explanation?.desiredReplicas).to.equal(100); // the last decision remains
    expect(since(7, {})).to.deep.equal([undefined, undefined]);
    expect(reported.log.find('shop/web')?.other).to.equal(undefined);
  });

  it('reports a missing metric among others', () => {
    const { log } = new ReportedHpas();
    const [read, failed] = [1, undefined].map((ratio) => explainedAt(ratio, { minReplicas: 2 }));
    if (!read || !failed) throw new Error('both are explained');
    const decided = (metrics: typeof read.metrics) => {
      const explanation = { ...read, atMs: DECIDED_AT_MS, metrics };
      const outcome = { explanation, status: { desiredReplicas: 2 } } as unknown as Outcome;
      log.record('default/web', outcome, { hpa: webHpa({ minReplicas: 2 }), isDryRun: false });
      return log.find('default/web')?.missingSinceMs;
    };
    expect(decided([...read.metrics, ...failed.metrics])).to.equal(DECIDED_AT_MS);
    expect(decided([...read.metrics, ...read.metrics])).to.equal(undefined);
    expect(decided([])).to.equal(undefined);
  });

  it('retains the last fifty decisions, and their loads', () => {
    const reported = new ReportedHpas();
    for (let index = 0; index < 51; index++)
      reported.decided('shop/web', DECIDED_AT_MS + index, { ratio: index });
    const found = reported.log.find('shop/web') ?? expect.fail('it was decided');
    expect(found.decisions.map(({ atMs }) => atMs - DECIDED_AT_MS)).to.deep.equal(
      Array.from({ length: 50 }, (_, index) => index + 1),
    );
    expect(found.loads?.ratiosOf(0)).to.deep.equal(Array.from({ length: 50 }, (_, index) => index + 1));
    reported.log.recordExternal('shop/web', { manager: 'other', writtenAtMs: 0 }, DECIDED_AT_MS);
    const aside = reported.log.find('shop/web');
    expect(aside?.decisions).to.have.lengthOf(50);
    expect(aside?.loads?.ratiosOf(0).slice(-2)).to.deep.equal([50, undefined]);
  });

  it('records the result and a truncated error', () => {
    const reported = new ReportedHpas();
    const latest = () => reported.log.find('shop/web')?.decisions.at(-1);
    const decided = { atMs: DECIDED_AT_MS, step: 'metrics', currentReplicas: 2, proposedReplicas: 2 };
    reported.decided('shop/web', DECIDED_AT_MS);
    expect(latest()).to.deep.equal({ ...decided, desiredReplicas: 2, isScaled: false });
    reported.decided('shop/web', DECIDED_AT_MS, {
      desiredReplicas: 3,
      isScaled: true,
      error: 'x'.repeat(500),
    });
    expect(latest()).to.deep.equal({
      ...decided,
      desiredReplicas: 3,
      isScaled: true,
      error: 'x'.repeat(500),
    });
    reported.decided('shop/web', DECIDED_AT_MS, {
      desiredReplicas: 3,
      isScaled: true,
      isDryRun: true,
      statusReplicas: 3,
    });
    expect(latest()).to.deep.equal({ ...decided, desiredReplicas: 3, isScaled: false, agrees: true });
    const failure = `Cannot read metric${'x'.repeat(480)}: connection refused`;
    reported.decided('shop/web', DECIDED_AT_MS, { error: failure });
    expect(latest()?.error)
      .to.match(/^Cannot read metricx+… 18 more characters …x+: connection refused$/)
      .and.have.lengthOf(500 + '… 18 more characters …'.length);
    expect(reported.log.find('shop/web')).to.not.have.property('problem');
    reported.decided('shop/web', DECIDED_AT_MS, { problem: 'odd' });
    expect(reported.log.find('shop/web')).to.have.property('problem', 'odd');
  });

  it('retains no more of a long error than it shows', async () => {
    const reported = new ReportedHpas();
    const before = await memoryInUse();
    for (let index = 0; index < 50; index++)
      reported.decided('shop/web', DECIDED_AT_MS + index, { error: built(`no value ${index} of `, 200_000) });
    expect((await memoryInUse()) - before).to.be.below(2_000_000); // a fifth of the errors
    expect(reported.log.find('shop/web')?.decisions).to.have.lengthOf(50);
  });

  it('shares the text of a repeated error', async () => {
    const reported = new ReportedHpas();
    const keys = Array.from({ length: 200 }, (_, index) => `shop/web-${index}`);
    for (const key of keys) reported.decided(key, DECIDED_AT_MS);
    const before = await memoryInUse();
    for (let index = 1; index <= 50; index++)
      for (const key of keys) reported.decided(key, DECIDED_AT_MS + index, { error: built(`${key}: `, 450) });
    expect((await memoryInUse()) - before).to.be.below(3_000_000); // the errors of all decisions are 4.5 MB
    expect(reported.log.find('shop/web-7')?.decisions.map(({ error }) => error?.slice(0, 12))).to.deep.equal(
      Array.from({ length: 50 }, () => 'shop/web-7: '),
    );
  });

  it('removes deleted HPAs, and all at the end of a term', () => {
    const reported = new ReportedHpas();
    for (const key of ['shop/a', 'shop/b', 'bank/c']) reported.decided(key, DECIDED_AT_MS);
    reported.log.remove('shop/a');
    expect([...reported.log.values()].map(({ namespace, name }) => `${namespace}/${name}`)).to.deep.equal([
      ...['shop/b', 'bank/c'],
    ]);
    expect(reported.log.size).to.equal(2);
    reported.log.clear();
    expect([reported.log.size, reported.log.find('shop/b')]).to.deep.equal([0, undefined]);
  });
});

/** A text with its own memory, like those of real decisions. */
function built(beginning: string, length: number): string {
  return Buffer.from(beginning.padEnd(length, 'x')).toString();
}

/** Metrics with the fields that their history uses. */
function metrics(ratios: Readonly<Record<string, number | undefined>>): readonly MetricExplanation[] {
  return Object.entries(ratios).map(
    ([name, ratio]) => ({ name, ...(ratio !== undefined && { proposal: { ratio } }) }) as MetricExplanation,
  );
}

describe('LoadHistory', () => {
  it('returns the latest ratios, oldest first, and undefined for unknown ones', () => {
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

  it('continues with the same metrics, and starts over with others', () => {
    const before = LoadHistory.after(undefined, metrics({ cpu: 1 }), 3);
    before.record(metrics({ cpu: 1 }));
    expect(LoadHistory.after(before, metrics({ cpu: 2 }), 3)).to.equal(before);
    expect(LoadHistory.after(before, [], 3)).to.equal(before);
    const other = LoadHistory.after(before, metrics({ cpu: 1, queue: 1 }), 3);
    expect(other.metrics).to.deep.equal(['cpu', 'queue']);
    expect(other.ratiosOf(0)).to.deep.equal([]);
  });

  it('bounds the number of metrics', () => {
    const many = metrics(Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`m${index}`, 1])));
    const history = LoadHistory.after(undefined, many, 3);
    history.record(many);
    expect(history.metrics).to.have.lengthOf(20);
    expect(LoadHistory.after(history, many, 3)).to.equal(history);
  });
});
