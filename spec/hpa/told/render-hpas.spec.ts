import { expect } from 'chai';
import type { Outcome } from '#lib/hpa/decision.ts';
import type { Explanation, MetricExplanation } from '#lib/hpa/explanation.ts';
import { DecisionLog } from '#lib/hpa/told/decision-log.ts';
import { hpaText } from '#lib/hpa/told/hpa-text.ts';
import { renderHpas } from '#lib/hpa/told/render-hpas.ts';
import { readPageQuery } from '#lib/ui/page-query.ts';
import { explainedAt, followedWeb } from '../auto-min/built-decision.ts';

const LONG = 'x'.repeat(100_000);
const NOW_MS = Date.UTC(2026, 0, 1);

/** Many HPAs, of which each metric failed with a word as long as a server likes. */
function hostileLog(hpas: number, metricsOfEach: number): DecisionLog {
  const log = new DecisionLog();
  const metric: MetricExplanation = {
    ...{ type: 'External', name: `queue${LONG}`, target: undefined, current: undefined },
    failure: { reason: 'FailedGetExternalMetric', message: LONG, error: LONG, isRefusal: false },
  };
  const explanation: Explanation = {
    ...explainedAt(undefined, { minReplicas: 1 }),
    atMs: NOW_MS,
    metrics: Array.from({ length: metricsOfEach }, () => metric),
  };
  const outcome = { explanation, desiredReplicas: undefined, error: LONG } as unknown as Outcome;
  const hpa = followedWeb({ minReplicas: 1 });
  for (let place = 0; place < hpas; place++) {
    const metadata = { ...hpa.metadata, name: `web-${place}` };
    for (let count = 0; count < 60; count++)
      log.record(`default/web-${place}`, outcome, { hpa: { ...hpa, metadata }, isDryRun: false });
  }
  return log;
}

const render = (log: DecisionLog, query: string): string => {
  const source = { decisions: log, autoMin: { find: () => undefined }, nowMs: () => NOW_MS };
  return renderHpas(readPageQuery(new URLSearchParams(query), ['hpas']), source).toString();
};

describe('renderHpas', () => {
  it('shows a page of many HPAs in troubles of any length, and leads to the others', () => {
    const page = render(hostileLog(250, 1), 'view=hpas');
    expect(page.length).to.be.below(150_000);
    expect(page)
      .to.contain('1 to 100 of 250')
      .and.to.match(/x… and \d+ more characters/);
    expect(render(hostileLog(250, 1), 'view=hpas&page=3')).to.contain('201 to 250 of 250');
  });

  it('shows one with a thousand metrics in as much text as somebody reads', () => {
    const page = render(hostileLog(1, 1000), 'view=hpas&namespace=default&name=web-0');
    expect(page.length).to.be.below(300_000);
  });
});

describe('hpaText', () => {
  it('leaves out of a giant calculation what is in its middle, and says so', () => {
    const found = hostileLog(1, 1000).find('default/web-0');
    if (!found) throw new Error('it was not recorded');
    const lines = hpaText(found, undefined).split('\n');
    expect(lines.length).to.be.below(300);
    expect(lines).to.contain('… 801 more lines; as JSON there are all …');
    expect(lines.findLast((line) => line.includes('metrics-missing'))).to.have.lengthOf.below(700);
  });
});
