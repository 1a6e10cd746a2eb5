import { expect } from 'chai';
import { type HpaDecisions, LoadHistory } from '#lib/hpa/observability/decision-log.ts';
import { hpaCharts } from '#lib/hpa/told/hpa-charts.ts';
import { TOLD_AT_MS, type ToldFacts, ToldHpas } from './told-hpas.ts';

/** What is written in a drawing, in its order, and what is drawn. */
function drawn(chart: unknown) {
  const svg = String(chart);
  const texts = [...svg.matchAll(/<text[^>]*>(.*?)<\/text>/g)].map(([, text = '']) =>
    text.replace(/<[^>]*>/g, ''),
  );
  const bounds = [...svg.matchAll(/<line class="bound"[^>]* y1="([\d.]+)"/g)].map(([, y]) => Number(y));
  const lines = [...svg.matchAll(/<path class="([^"]*)" d="([^"]*)"/g)].map(
    ([, name, path]) => `${name}: ${path}`,
  );
  const [, size] = /viewBox="([^"]*)"/.exec(svg) ?? [];
  return { texts, bounds, lines, size };
}

/** One HPA of which decisions were made half a minute apart. */
function chartsOf(...facts: readonly ToldFacts[]) {
  const told = new ToldHpas();
  for (const [place, fact] of facts.entries()) told.decided('shop/web', TOLD_AT_MS + place * 30_000, fact);
  return hpaCharts(told.log.find('shop/web') ?? expect.fail('it was decided')).map(drawn);
}

describe('hpaCharts', () => {
  it('draws the replicas, what metrics asked for and the bounds, and each metric against its target', () => {
    const bounds = { maxReplicas: 8 };
    const charts = chartsOf(
      { ...bounds, ratio: 1, currentReplicas: 2, proposedReplicas: 2 },
      { ...bounds, ratio: 2, currentReplicas: 2, proposedReplicas: 4 },
      { ...bounds, ratio: 0.5, currentReplicas: 4, proposedReplicas: 2 },
    );
    expect(charts).to.deep.equal([
      {
        texts: [
          ...['Replicas', 'replicas · what metrics ask for · bounds 2 to 8', '0', '2', '4', '6', '8'],
          ...['12:00', '12:00:15', '12:00:30', '12:00:45', '12:01'],
        ],
        bounds: [184, 64],
        lines: ['replicas: M56 184H564V144', 'asked: M56 184H310V144H564V184'],
        size: '0 0 600 260',
      },
      {
        texts: [
          ...['Metrics, in % of their targets', 'cpu resource · target', '0%', '50%', '100%', '150%', '200%'],
          ...['12:00', '12:00:15', '12:00:30', '12:00:45', '12:01'],
        ],
        bounds: [144],
        lines: ['load-0: M56 144L310 64L564 184'],
        size: '0 0 600 260',
      },
    ]);
  });

  it('draws a metric far beyond its target at the upper edge, and all below it with half as much above', () => {
    const loads = (...ratios: readonly number[]) => chartsOf(...ratios.map((ratio) => ({ ratio })))[1];
    expect(loads(1, 30)?.texts.slice(2, 8)).to.deep.equal(['0%', '200%', '400%', '600%', '800%', '1000%']);
    expect(loads(1, 30)?.lines).to.deep.equal(['load-0: M56 208L564 64']);
    expect(loads(0.1, 0.2)?.texts.slice(2, 6)).to.deep.equal(['0%', '50%', '100%', '150%']);
    expect(loads(0.1, 0.2)?.bounds).to.deep.equal([117.3]);
  });

  it('leaves a gap where a metric was unknown, and out of its name what selects it', () => {
    const metric = 'external metric queue(&LabelSelector{\n})';
    const [, loads] = chartsOf({ metric }, { metric, ratio: null }, { metric }, { metric });
    expect(loads?.texts[1]).to.equal('external metric queue · target');
    expect(loads?.lines).to.deep.equal(['load-0: M56 117.3h0.1M394.7 117.3L564 117.3']);
  });

  it('draws metrics that are new from when on they were looked at', () => {
    const [, loads] = chartsOf({ metric: 'old' }, { metric: 'new' }, { metric: 'new', ratio: 0.75 });
    expect(loads?.lines).to.deep.equal(['load-0: M310 117.3L564 144']);
  });

  it('draws six metrics and no more', () => {
    const told = new ToldHpas();
    for (const atMs of [TOLD_AT_MS, TOLD_AT_MS + 30_000]) told.decided('shop/web', atMs);
    const found = told.log.find('shop/web') ?? expect.fail('it was decided');
    const loads = new LoadHistory(
      Array.from({ length: 8 }, (_, place) => `m${place}`),
      2,
    );
    const drawing = drawn(hpaCharts({ ...found, loads })[1]);
    expect(drawing.texts[1]).to.equal('m0 · m1 · m2 · m3 · m4 · m5 · target');
    expect(drawing.lines).to.have.lengthOf(6);
  });

  it('draws no bounds and no metrics of one that was always left to another controller', () => {
    const told = new ToldHpas();
    const other = { manager: 'other', writtenAtMs: TOLD_AT_MS };
    const charts = (): readonly string[] => hpaCharts(told.log.find('shop/web') as HpaDecisions).map(String);
    told.log.steppedAside('shop/web', other, TOLD_AT_MS);
    expect(charts()).to.deep.equal(['<p class="hint">A drawing takes two decisions.</p>']);
    told.log.steppedAside('shop/web', other, TOLD_AT_MS + 30_000);
    expect(charts()).to.have.lengthOf(1);
    expect(drawn(charts()[0])).to.deep.equal({
      texts: ['Replicas', 'replicas · what metrics ask for', '0', '1', '12:00', '12:00:15', '12:00:30'],
      ...{ bounds: [], lines: ['replicas: ', 'asked: '], size: '0 0 600 260' },
    });
    const never = { ...told.log.find('shop/web'), decisions: [] } as unknown as HpaDecisions;
    expect(hpaCharts(never).map(String)).to.deep.equal([
      '<p class="hint">A drawing takes two decisions.</p>',
    ]);
  });
});
