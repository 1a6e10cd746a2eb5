import { expect } from 'chai';
import { DueHpas, spreadOf, syncSchedule, untilNextMs } from '#lib/hpa/sync-schedule.ts';
import type { Hpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import { webHpa } from './min-replicas/built-decision.ts';

const RESYNC_PERIOD = 'platform.stke/resync-period';

const hpa = (name: string, { namespace = 'shop', period }: { namespace?: string; period?: string } = {}) => ({
  metadata: { name, namespace, uid: name, ...(period && { annotations: { [RESYNC_PERIOD]: period } }) },
});

describe('syncSchedule', () => {
  it('decides the HPAs of a namespace within half a second', () => {
    const phases = Array.from(
      { length: 50 },
      (_, index) => syncSchedule(hpa(`web-${index}`), 15_000).phaseMs,
    );
    const [first, last] = [Math.min(...phases), Math.max(...phases)];
    expect(last - first).to.be.within(300, 500);
  });

  it('spreads namespaces over the period', () => {
    const tenths = new Set<number>();
    for (let index = 0; index < 100; index++) {
      const { phaseMs } = syncSchedule(hpa('web', { namespace: `team-${index}` }), 15_000);
      tenths.add(Math.floor(phaseMs / 1500));
    }
    expect(tenths.size).to.be.at.least(10);
  });

  it('decides HPAs of a namespace together when one period is a multiple of the other', () => {
    const phaseOf = (period: string) => syncSchedule(hpa('web', { period }), 15_000).phaseMs;
    const difference = Math.abs((phaseOf('60s') - phaseOf('5s')) % 5000);
    expect(Math.min(difference, 5000 - difference)).to.be.lessThan(500);
  });

  it('accepts periods from 1s to 24h, and explains the rule otherwise', () => {
    const of = (period: string) => syncSchedule(hpa('web', { period }), 15_000);
    expect([of('1s'), of('24h')].map(({ periodMs }) => periodMs)).to.deep.equal([1000, 86_400_000]);
    for (const period of ['999ms', '24h1ms', '-5s', 'soon', '', '5'.repeat(100)]) {
      const { periodMs, problem } = of(period);
      expect(periodMs, period).to.equal(15_000);
      if (period !== '') expect(problem, period).to.match(/is not a duration from 1s to 24h; using 15s$/);
    }
  });
});

describe('untilNextMs', () => {
  const schedule = { periodMs: 10_000, phaseMs: 3000 };

  it('waits for the phase of the period', () => {
    expect(untilNextMs(schedule, 3000)).to.equal(10_000);
    expect(untilNextMs(schedule, 5000)).to.equal(8000);
    expect(untilNextMs(schedule, 1000)).to.equal(2000);
  });

  it('does not decide twice in a row', () => {
    expect(untilNextMs(schedule, 2001)).to.equal(10_999);
    expect(untilNextMs(schedule, 2000)).to.equal(1000);
  });
});

describe('DueHpas', () => {
  it('makes an HPA due on schedule, and at once when it is new or changed by its user', () => {
    const due = new DueHpas();
    const web = webHpa({ minReplicas: 2 });
    expect([due.isNew('a', web), due.untilDueMs('a', web, 0)]).to.deep.equal([true, 0]);
    due.decided('a', web, 5000);
    expect([due.isNew('a', web), due.untilDueMs('a', web, 1000)]).to.deep.equal([false, 4000]);
    expect(due.untilDueMs('a', web, 5001)).to.equal(-1);
    expect(due.untilDueMs('a', { ...web, status: { desiredReplicas: 9 } }, 1000)).to.equal(4000);
    const changed = webHpa({ minReplicas: 2, annotations: { [RESYNC_PERIOD]: '1s' } });
    expect([due.isNew('a', changed), due.untilDueMs('a', changed, 1000)]).to.deep.equal([true, 0]);
    due.remove('a');
    expect(due.isNew('a', web)).to.equal(true);
  });

  it('makes an HPA due at once for another period or spec and when it is recreated, not for other annotations', () => {
    const due = new DueHpas();
    const web = webHpa({ minReplicas: 2, annotations: { [RESYNC_PERIOD]: '1m', 'a.example/b': '1' } });
    due.decided('a', web, 5000);
    const { annotations: _, ...metadata } = web.metadata;
    const cases: readonly (readonly [what: string, now: Hpa, isNew: boolean])[] = [
      ['all annotations gone', { ...web, metadata }, true],
      ['another annotation', webHpa({ minReplicas: 2, annotations: { [RESYNC_PERIOD]: '1m' } }), false],
      ['another bound', { ...web, spec: { ...web.spec, minReplicas: 3 } }, true],
      ['made again', { ...web, metadata: { ...web.metadata, uid: 'v' } }, true],
    ];
    for (const [what, now, isNew] of cases) {
      expect(due.isNew('a', now), what).to.equal(isNew);
      expect(due.untilDueMs('a', now, 1000), what).to.equal(isNew ? 0 : 4000);
    }
  });

  it('returns the shortest period of a namespace, also after HPAs are removed', () => {
    const due = new DueHpas();
    due.add('shop/a', 'shop', 15_000);
    due.add('shop/b', 'shop', 5000);
    due.add('shop/c', 'shop', 5000);
    expect(due.minPeriodMs('shop')).to.equal(5000);
    due.remove('shop/b');
    expect(due.minPeriodMs('shop')).to.equal(5000);
    due.add('shop/c', 'shop', 30_000);
    expect(due.minPeriodMs('shop')).to.equal(15_000);
    due.remove('shop/a');
    expect(due.minPeriodMs('shop')).to.equal(30_000);
  });
});

describe('spreadOf', () => {
  it('is constant for a text', () => {
    expect(spreadOf('team-1')).to.equal(spreadOf('team-1'));
    expect(spreadOf('')).to.be.within(0, 1);
  });

  for (const prefix of ['team-', 'shop/web-', 'a']) {
    it(`spreads a hundred texts with the prefix ${prefix} evenly`, () => {
      const tenths = Array.from({ length: 10 }, () => 0);
      for (let number = 1; number <= 100; number++) {
        const spread = spreadOf(`${prefix}${number}`);
        expect(spread).to.be.within(0, 1 - 2 ** -33);
        tenths[Math.floor(spread * 10)] = (tenths[Math.floor(spread * 10)] ?? 0) + 1;
      }
      for (const count of tenths) expect(count, tenths.join(' ')).to.be.within(2, 21);
    });
  }
});
