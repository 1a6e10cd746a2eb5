import { expect } from 'chai';
import type { Explanation, Outcome } from '#lib/hpa/decision/decision.ts';
import type { MetricExplanation } from '#lib/hpa/decision/evaluate-metrics.ts';
import { hpaText } from '#lib/hpa/observability/debug-hpa.ts';
import { DecisionLog, type HpaDecisions, LoadHistory } from '#lib/hpa/observability/decision-log.ts';
import { hpaUi } from '#lib/hpa/observability/hpa-ui.ts';
import { hpaCharts, renderHpas } from '#lib/hpa/observability/render-hpas.ts';
import { readPageQuery } from '#lib/ui/page-query.ts';
import { explainedAt, followedWeb } from '#spec/hpa/min-replicas/built-decision.ts';
import { TOLD_AT_MS, type ToldFacts, ToldHpas } from './reported-hpas.ts';

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

describe('renderHpas, of what was decided', () => {
  const told = new ToldHpas();
  const scales = { ratio: 1.5, proposedReplicas: 3, desiredReplicas: 3, isScaled: true };
  const without = { proposedReplicas: undefined, leadingMetric: undefined };
  const full = { currentReplicas: 100, desiredReplicas: 100 };
  told.decided('shop/fine', TOLD_AT_MS);
  told.decided('shop/grown', TOLD_AT_MS, scales);
  told.decided('shop/full', TOLD_AT_MS, full);
  const off = { ...without, step: 'switched-off', currentReplicas: 0, desiredReplicas: 0 } as const;
  told.decided('shop/off', TOLD_AT_MS, off);
  const lost = {
    ...without,
    step: 'no-scale',
    currentReplicas: undefined,
    desiredReplicas: undefined,
    error: 'failed to query scale subresource for Deployment/shop/lost: there is none',
  } as const;
  told.decided('shop/lost', TOLD_AT_MS, lost);
  const unclear = { ...without, step: 'unclear-pods', error: 'pods are selected by two' } as const;
  told.decided('shop/rival', TOLD_AT_MS, unclear);
  const stuck = { ...scales, isScaled: false, error: 'failed to rescale Deployment/shop/stuck: forbidden' };
  told.decided('shop/stuck', TOLD_AT_MS, stuck);
  for (const atMs of [TOLD_AT_MS - 120_000, TOLD_AT_MS])
    told.decided('shop/mute', atMs, { ratio: null, ...without });
  const other = { manager: 'kube-controller-manager', writtenAtMs: TOLD_AT_MS - 5000 };
  told.log.steppedAside('bank/other', other, TOLD_AT_MS);
  const source = {
    decisions: told.log,
    autoMin: { find: () => 'stays 2: the week asks for 2' },
    nowMs: () => TOLD_AT_MS + 30_000,
  };
  const page = (search: string, views: readonly string[] = ['hpas', 'metrics']) =>
    renderHpas(readPageQuery(new URLSearchParams(search), views), source).toString();

  it('lists each with its replicas, what leads it and how it is, those in trouble first with why', () => {
    expect(rowsOf(page('view=hpas'))).to.deep.equal([
      '[] State | Namespace | HPA | Replicas | Metrics ask for | Bounds | Leading metric | Decided',
      '[failing has-reason] no scale | shop | lost | ? | – | 2 to 100 | – | 30s ago',
      '[failing reason] failed to query scale subresource for Deployment/shop/lost: there is none',
      '[failing has-reason] unclear pods | shop | rival | 2 | – | 2 to 100 | – | 30s ago',
      '[failing reason] pods are selected by two',
      '[failing has-reason] not scaled | shop | stuck | 2 → 3 | 3 | 2 to 100 | cpu resource at 150% of its target | 30s ago',
      '[failing reason] failed to rescale Deployment/shop/stuck: forbidden',
      '[failing has-reason] metric missing | shop | mute | 2 | – | 2 to 100 | – | 30s ago',
      '[failing reason] cpu resource: nobody serves it (for 2m30s)',
      '[waiting has-reason] left alone | bank | other | ? | – | – | – | 30s ago',
      '[waiting reason] "kube-controller-manager" acted on it 35s ago',
      '[] stays | shop | fine | 2 | 2 | 2 to 100 | cpu resource at 100% of its target | 30s ago',
      '[] scaled | shop | grown | 2 → 3 | 3 | 2 to 100 | cpu resource at 150% of its target | 30s ago',
      '[] at maximum | shop | full | 100 | 2 | 2 to 100 | cpu resource at 100% of its target | 30s ago',
      '[] switched off | shop | off | 0 | – | 2 to 100 | – | 30s ago',
    ]);
    expect(page('view=hpas&namespace=bank')).to.not.include('shop');
    expect(page('view=hpas&filter=nothing')).to.include(
      'None has been decided here: only the replica that leads decides HPAs.',
    );
    expect(page('view=hpas')).to.include('<h2>HorizontalPodAutoscalers</h2><span class="count">9</span>');
  });

  it('gives each state its colour, and stands amounts below one another', () => {
    const states = [...page('view=hpas').matchAll(/class="state (\w+)">([^<]*)</g)].map(
      ([, colour, word]) => `${colour}: ${word}`,
    );
    expect(states).to.deep.equal([
      ...['failing: no scale', 'failing: unclear pods', 'failing: not scaled', 'failing: metric missing'],
      ...['waiting: left alone', 'served: stays', 'served: scaled', 'waiting: at maximum'],
      'served: switched off',
    ]);
    const head = [...page('view=hpas').matchAll(/<th(?: class="(\w+)")? scope="col">/g)].map(
      ([, look]) => look,
    );
    expect(head).to.deep.equal([
      ...[undefined, 'faint', 'name', 'number', 'number', 'number', 'text', 'number'],
    ]);
  });

  it('leads to one in full, and from there to all, to its namespace, and to its metrics where they are shown', () => {
    const linksOf = (html: string) =>
      [...html.matchAll(/href="([^"]*)"/g)].map(([, to = '']) => to.replaceAll('&amp;', '&'));
    expect(linksOf(page('view=hpas&refresh=off'))).to.include(
      '?view=hpas&namespace=shop&name=grown&refresh=off',
    );
    const grown = page('view=hpas&namespace=shop&name=grown');
    expect(linksOf(grown)).to.deep.equal([
      ...['?view=hpas', '?view=hpas&namespace=shop', '?view=metrics&namespace=shop&name=grown'],
    ]);
    expect(textOf(grown)).to.equal(
      `HPAs / shop / grown

A drawing takes two decisions.


Why how its metrics are collected
HorizontalPodAutoscaler shop/grown
decided at 2026-01-01T12:00:00Z
2 replicas, bounds 2 to 100: scales to 3
cpu resource: no mean of 10: asks for 2, which leads
  ratio 1.5: outside of the tolerance
  scales up above 11, down below 9
minReplicas by the week: stays 2: the week asks for 2

the last 1 decisions, the latest first:
2026-01-01T12:00:00Z  2 -&gt; 3  scaled  metrics, metrics ask for 3`,
    );
    const still = page('view=hpas&namespace=shop&name=grown&refresh=off', ['hpas']);
    expect(linksOf(still)).to.deep.equal(['?view=hpas&refresh=off', '?view=hpas&namespace=shop&refresh=off']);
  });

  it('says of one that nobody decided that it is not there', () => {
    expect(() => page('view=hpas&namespace=shop&name=gone'))
      .to.throw('horizontalpodautoscalers.autoscaling "shop/gone" not found')
      .which.includes({ code: 404 });
    expect(page('view=hpas&name=grown')).to.include('<span class="count">1</span>'); // a name says too little
  });

  it('counts for the front page those that fail or are left alone', () => {
    const { view, title, about, summary } = hpaUi(source);
    expect([view, title, about]).to.deep.equal([
      ...['hpas', 'HPAs', 'HorizontalPodAutoscalers that this replica decides, by metrics'],
    ]);
    expect(summary()).to.deep.equal({ count: 9, unhealthy: 5, problem: 'failing or left alone' });
  });
});

/** The rows of a table, as `[COLOUR] CELL | CELL`. */
function rowsOf(page: string): readonly string[] {
  return [...page.matchAll(/<tr(?: class="([^"]*)")?>(.*?)<\/tr>/gs)].map(([, colour = '', row = '']) => {
    const cells = row.split(/<\/t[hd]>/).slice(0, -1);
    return `[${colour}] ${cells.map((cell) => cell.replace(/<[^>]*>/g, '')).join(' | ')}`;
  });
}

/** What a page says, with a blank between parts of a bar. */
function textOf(page: string): string {
  return page
    .replace(/<\/h2>/g, ' ')
    .replace(/<[^>]*>/g, '')
    .trim();
}

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
