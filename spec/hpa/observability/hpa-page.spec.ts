import { expect } from 'chai';
import type { Explanation, Outcome } from '#lib/hpa/decision/decision.ts';
import type { MetricExplanation } from '#lib/hpa/decision/evaluate-metrics.ts';
import { hpaText } from '#lib/hpa/observability/debug-hpa.ts';
import { DecisionLog, type HpaDecisions, LoadHistory } from '#lib/hpa/observability/decision-log.ts';
import { hpaCharts, renderHpas } from '#lib/hpa/observability/hpa-page.ts';
import { hpaUi } from '#lib/hpa/observability/hpa-ui.ts';
import { readPageQuery } from '#lib/ui/page-query.ts';
import { explainedAt, webHpa } from '#spec/hpa/min-replicas/built-decision.ts';
import { DECIDED_AT_MS, type ReportedFacts, ReportedHpas } from './reported-hpas.ts';

const LONG = 'x'.repeat(100_000);
const SELECTOR =
  '&LabelSelector{MatchLabels:map[string]string{app: shop,},MatchExpressions:[]LabelSelectorRequirement{},}';
const NOW_MS = Date.UTC(2026, 0, 1);

/** Many HPAs whose metrics fail with messages as long as a server permits. */
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
  const condition = {
    type: 'ScalingActive',
    status: 'False',
    reason: 'FailedGetExternalMetric',
    message: LONG,
  };
  const status = { desiredReplicas: 2, conditions: [condition] };
  const outcome = { explanation, desiredReplicas: undefined, error: LONG, status } as unknown as Outcome;
  const hpa = webHpa({ minReplicas: 1 });
  for (let index = 0; index < hpas; index++) {
    const metadata = { ...hpa.metadata, name: `web-${index}` };
    for (let count = 0; count < 60; count++)
      log.record(`default/web-${index}`, outcome, { hpa: { ...hpa, metadata }, isDryRun: false });
  }
  return log;
}

const render = (log: DecisionLog, query: string): string => {
  const source = { decisions: log, autoMin: { find: () => undefined }, nowMs: () => NOW_MS };
  return renderHpas(readPageQuery(new URLSearchParams(query), ['hpas']), source).toString();
};

describe('renderHpas', () => {
  it('shows a page of many HPAs with problems of any length, with links to the others', () => {
    const page = render(hostileLog(250, 1), 'view=hpas');
    expect(page.length).to.be.below(150_000);
    expect(page)
      .to.contain('1 to 100 of 250')
      .and.to.match(/x… \d+ more characters …x/);
    expect(render(hostileLog(250, 1), 'view=hpas&page=3')).to.contain('201 to 250 of 250');
  });

  it('truncates an HPA with a thousand metrics', () => {
    const page = render(hostileLog(1, 1000), 'view=hpas&namespace=default&name=web-0');
    expect(page.length).to.be.below(300_000);
  });
});

describe('hpaText', () => {
  it('omits the middle of a huge calculation', () => {
    const found = hostileLog(1, 1000).find('default/web-0');
    if (!found) throw new Error('it was not recorded');
    const lines = hpaText(found, undefined).split('\n');
    expect(lines.length).to.be.below(300);
    expect(lines).to.contain('… 801 more lines; JSON has all of them …');
    expect(lines.findLast((line) => line.includes('metrics missing'))).to.have.lengthOf.below(700);
  });
});

describe('renderHpas with decisions', () => {
  const reported = new ReportedHpas();
  const scales = { ratio: 1.5, proposedReplicas: 3, desiredReplicas: 3, isScaled: true };
  const without = { proposedReplicas: undefined, leadingMetric: undefined };
  const full = { currentReplicas: 100, desiredReplicas: 100 };
  reported.decided('shop/fine', DECIDED_AT_MS);
  reported.decided('shop/grown', DECIDED_AT_MS, scales);
  reported.decided('shop/full', DECIDED_AT_MS, full);
  const off = { ...without, step: 'switched-off', currentReplicas: 0, desiredReplicas: 0 } as const;
  reported.decided('shop/off', DECIDED_AT_MS, off);
  const lost = {
    ...without,
    step: 'no-scale',
    currentReplicas: undefined,
    desiredReplicas: undefined,
    error: 'failed to query scale subresource for Deployment/shop/lost: there is none',
  } as const;
  reported.decided('shop/lost', DECIDED_AT_MS, lost);
  const unclear = { ...without, step: 'unclear-pods', error: 'pods are selected by two' } as const;
  reported.decided('shop/rival', DECIDED_AT_MS, unclear);
  const stuck = { ...scales, isScaled: false, error: 'failed to rescale Deployment/shop/stuck: forbidden' };
  reported.decided('shop/stuck', DECIDED_AT_MS, stuck);
  for (const atMs of [DECIDED_AT_MS - 120_000, DECIDED_AT_MS])
    reported.decided('shop/mute', atMs, { ratio: null, ...without });
  const other = { manager: 'kube-controller-manager', writtenAtMs: DECIDED_AT_MS - 5000 };
  reported.log.recordExternal('bank/other', other, DECIDED_AT_MS);
  const source = {
    decisions: reported.log,
    autoMin: { find: () => 'stays 2: the load of the last week requires 2' },
    nowMs: () => DECIDED_AT_MS + 30_000,
  };
  const page = (search: string, views: readonly string[] = ['hpas', 'metrics']) =>
    renderHpas(readPageQuery(new URLSearchParams(search), views), source).toString();

  it('lists replicas, highest metric and state of each HPA, those with problems first', () => {
    expect(rowsOf(page('view=hpas'))).to.deep.equal([
      '[] State | Namespace | HPA | Replicas | Proposed | Bounds | Current / target | Decided',
      '[failing has-reason] Failing | shop | lost | ? | – | 2 to 100 | cpu resource: no average of 10 | 30s ago',
      '[failing reason] Scale of the target unknown: failed to query scale subresource for Deployment/shop/lost: there is none',
      '[failing has-reason] Failing | shop | rival | 2 | – | 2 to 100 | cpu resource: no average of 10 | 30s ago',
      '[failing reason] Pods of the target cannot be determined: pods are selected by two',
      '[failing has-reason] Failing | shop | stuck | 2 → 3 | 3 | 2 to 100 | cpu resource: no average of 10 | 30s ago',
      '[failing reason] Not scaled: failed to rescale Deployment/shop/stuck: forbidden',
      '[failing has-reason] Failing | shop | mute | 2 | – | 2 to 100 | cpu resource: no value, target 10 | 30s ago',
      '[failing reason] Metric missing: cpu resource: connection refused (for 2m30s)',
      '[waiting has-reason] Not managed | bank | other | ? | – | – | – | 30s ago',
      '[waiting reason] Managed by another controller: "kube-controller-manager" wrote the status of this HPA 35s ago',
      '[] Healthy | shop | fine | 2 | 2 | 2 to 100 | cpu resource: no average of 10 | 30s ago',
      '[] Healthy | shop | grown | 2 → 3 | 3 | 2 to 100 | cpu resource: no average of 10 | 30s ago',
      '[waiting has-reason] Limited | shop | full | 100 | 2 | 2 to 100 | cpu resource: no average of 10 | 30s ago',
      '[waiting reason] At maxReplicas (100) for 30s',
      '[waiting has-reason] Paused | shop | off | 0 | – | 2 to 100 | cpu resource: no average of 10 | 30s ago',
      '[waiting reason] The target has no replicas',
    ]);
    expect(page('view=hpas&namespace=bank')).to.not.include('shop');
    expect(page('view=hpas&filter=nothing')).to.include('No HPAs here: only the leader evaluates HPAs.');
    expect(page('view=hpas')).to.include('<h2>HorizontalPodAutoscalers</h2><span class="count">9</span>');
  });

  it('colors each state, and aligns numbers', () => {
    const states = [...page('view=hpas').matchAll(/class="state (\w+)">([^<]*)</g)].map(
      ([, colour, word]) => `${colour}: ${word}`,
    );
    expect(states).to.deep.equal([
      ...['failing: Failing', 'failing: Failing', 'failing: Failing', 'failing: Failing'],
      ...['waiting: Not managed', 'served: Healthy', 'served: Healthy'],
      ...['waiting: Limited', 'waiting: Paused'],
    ]);
    const head = [...page('view=hpas').matchAll(/<th(?: class="(\w+)")? scope="col">/g)].map(
      ([, check]) => check,
    );
    expect(head).to.deep.equal([
      ...[undefined, 'faint', 'name', 'number', 'number', 'number', 'text', 'number'],
    ]);
  });

  it('lists current value and target of the first metrics, the leading one in bold, without Go text of selectors', () => {
    const metrics = ['queue', 'orders', 'mails', 'jobs', 'rows'].map((name, index) => ({
      ...{ type: 'External', name: `external metric ${name}(${SELECTOR})` },
      target: { type: 'AverageValue', averageValue: '10' },
      current: { averageValue: String(index + 3) },
    }));
    const many = new ReportedHpas();
    many.decided('shop/many', DECIDED_AT_MS, { metrics, leadingMetric: 3 });
    const list = renderHpas(readPageQuery(new URLSearchParams('view=hpas'), ['hpas']), {
      ...source,
      decisions: many.log,
    }).toString();
    expect(list).to.include(
      '<b>external metric jobs{app=shop}: 6 of 10 per replica</b><br>external metric queue{app=shop}: 3 of 10 per replica<br>' +
        'external metric orders{app=shop}: 4 of 10 per replica<br>and 2 more',
    );
  });

  it('links to one HPA, and from there to all, its namespace and its metrics', () => {
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

The chart appears after two decisions.


Latest decision collected metrics
HorizontalPodAutoscaler shop/grown
decided at 2026-01-01T12:00:00Z
2 replicas, bounds 2 to 100: scales to 3
cpu resource: no average of 10: proposes 2, the highest
  ratio 1.5: outside the tolerance
  scales up above 11, down below 9
automatic minReplicas: stays 2: the load of the last week requires 2

last 1 decisions, latest first, in UTC:
2026-01-01
12:00:00  scaled from 2 to 3, metrics propose 3`,
    );
    const still = page('view=hpas&namespace=shop&name=grown&refresh=off', ['hpas']);
    expect(linksOf(still)).to.deep.equal(['?view=hpas&refresh=off', '?view=hpas&namespace=shop&refresh=off']);
  });

  it('begins the page of a failing HPA with the cause: condition, message, metric, API and time', () => {
    const failing = new ReportedHpas();
    const message = `the HPA was unable to compute the replica count: unable to get external metric shop/queue/${SELECTOR}: no response`;
    const conditions = [
      { type: 'AbleToScale', status: 'True', reason: 'SucceededGetScale', message: 'it was able to' },
      {
        ...{ type: 'ScalingActive', status: 'False', reason: 'FailedGetExternalMetric', message },
        lastTransitionTime: '2026-01-01T11:00:00Z',
      },
    ];
    const failure = {
      reason: 'FailedGetExternalMetric',
      message: 'no response',
      error: '',
      isRefusal: false,
    };
    const metrics = [
      { type: 'Resource', name: 'cpu resource', target: { type: 'Value', value: '10' } },
      { type: 'External', name: `external metric queue(${SELECTOR})`, target: undefined, failure },
    ];
    for (const atMs of [DECIDED_AT_MS - 120_000, DECIDED_AT_MS])
      failing.decided('shop/mute', atMs, {
        ...without,
        step: 'metrics-missing',
        metrics,
        conditions,
      } as object);
    const shown = renderHpas(
      readPageQuery(new URLSearchParams('view=hpas&namespace=shop&name=mute'), ['hpas']),
      { ...source, decisions: failing.log },
    ).toString();
    expect(factsOf(shown)).to.deep.equal([
      'Problem: Metric missing',
      'Condition: ScalingActive is False: FailedGetExternalMetric',
      'Message: the HPA was unable to compute the replica count: unable to get external metric shop/queue/{app=shop}: no response',
      'Metric: external metric queue{app=shop}',
      'Read from: external.metrics.k8s.io',
      'Since: for 2m30s',
    ]);
    const parts = ['<h2>Cause</h2>', '<div class="charts">', '<h2>Latest decision</h2>'];
    const positions = parts.map((part) => shown.indexOf(part));
    expect(positions).to.deep.equal([...positions].sort((a, b) => a - b));
    expect(positions[0]).to.be.greaterThan(0);
  });

  it('shows the error of an HPA that fails without a condition, or the other controller, and no cause of a healthy one', () => {
    const factsOn = (name: string, namespace = 'shop') =>
      factsOf(page(`view=hpas&namespace=${namespace}&name=${name}`));
    expect(factsOn('lost')).to.deep.equal([
      'Problem: Scale of the target unknown',
      'Message: failed to query scale subresource for Deployment/shop/lost: there is none',
    ]);
    expect(factsOn('mute').slice(1)).to.deep.equal([
      'Message: cpu resource: connection refused',
      'Metric: cpu resource',
      'Read from: metrics.k8s.io',
      'Since: for 2m30s',
    ]);
    expect(factsOn('other', 'bank')).to.deep.equal([
      'Problem: Managed by another controller',
      'Message: "kube-controller-manager" wrote the status of this HPA 35s ago',
    ]);
    expect(factsOn('grown')).to.deep.equal([]);
  });

  it('returns 404 for an HPA without decisions', () => {
    expect(() => page('view=hpas&namespace=shop&name=gone'))
      .to.throw('horizontalpodautoscalers.autoscaling "shop/gone" not found')
      .which.includes({ code: 404 });
    expect(page('view=hpas&name=grown')).to.include('<span class="count">1</span>'); // a short name matches too many
  });

  it('counts failing and unmanaged HPAs for the overview', () => {
    const { view, title, about, summary } = hpaUi({ ...source, hpas: { isSynced: true, values: () => [] } });
    expect([view, title, about]).to.deep.equal([
      ...['hpas', 'HPAs', 'HorizontalPodAutoscalers that this replica manages'],
    ]);
    expect(summary()).to.deep.equal({ count: 9, unhealthy: 5, problem: 'failing or not managed' });
  });
});

/** The rows of a table, as `[COLOUR] CELL | CELL`. */
function rowsOf(page: string): readonly string[] {
  return [...page.matchAll(/<tr(?: class="([^"]*)")?>(.*?)<\/tr>/gs)].map(([, colour = '', row = '']) => {
    const cells = row.split(/<\/t[hd]>/).slice(0, -1);
    return `[${colour}] ${cells.map((cell) => cell.replace(/<[^>]*>/g, '')).join(' | ')}`;
  });
}

/** The facts on a page, as `TERM: DESCRIPTION`. */
function factsOf(page: string): readonly string[] {
  return [...page.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/gs)].map(
    ([, term, description = '']) =>
      `${term}: ${description.replace(/<[^>]*>/g, '').replaceAll('&quot;', '"')}`,
  );
}

/** The visible text of a page, with a space between parts of a bar. */
function textOf(page: string): string {
  return page
    .replace(/<\/h2>/g, ' ')
    .replace(/<[^>]*>/g, '')
    .trim();
}

/** The texts of a chart in order, and its shapes. */
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

/** Charts of one HPA with decisions half a minute apart. */
function chartsOf(...facts: readonly ReportedFacts[]) {
  const reported = new ReportedHpas();
  for (const [index, fact] of facts.entries())
    reported.decided('shop/web', DECIDED_AT_MS + index * 30_000, fact);
  return hpaCharts(reported.log.find('shop/web') ?? expect.fail('it was decided')).map(drawn);
}

describe('hpaCharts', () => {
  it('draws replicas, proposals, bounds, and metrics relative to their targets', () => {
    const bounds = { maxReplicas: 8 };
    const charts = chartsOf(
      { ...bounds, ratio: 1, currentReplicas: 2, proposedReplicas: 2 },
      { ...bounds, ratio: 2, currentReplicas: 2, proposedReplicas: 4 },
      { ...bounds, ratio: 0.5, currentReplicas: 4, proposedReplicas: 2 },
    );
    expect(charts).to.deep.equal([
      {
        texts: [
          ...['Replicas', 'replicas · proposed by metrics · bounds 2 to 8', '0', '2', '4', '6', '8'],
          ...['12:00', '12:00:15', '12:00:30', '12:00:45', '12:01'],
        ],
        bounds: [184, 64],
        lines: ['replicas: M56 184H564V144', 'proposed: M56 184H310V144H564V184'],
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

  it('draws a metric far above its target at the top edge', () => {
    const loads = (...ratios: readonly number[]) => chartsOf(...ratios.map((ratio) => ({ ratio })))[1];
    expect(loads(1, 30)?.texts.slice(2, 8)).to.deep.equal(['0%', '200%', '400%', '600%', '800%', '1000%']);
    expect(loads(1, 30)?.lines).to.deep.equal(['load-0: M56 208L564 64']);
    expect(loads(0.1, 0.2)?.texts.slice(2, 6)).to.deep.equal(['0%', '50%', '100%', '150%']);
    expect(loads(0.1, 0.2)?.bounds).to.deep.equal([117.3]);
  });

  it('leaves a gap while a metric is unknown, and labels it without its selector', () => {
    const metric = 'external metric queue(&LabelSelector{\n})';
    const [, loads] = chartsOf({ metric }, { metric, ratio: null }, { metric }, { metric });
    expect(loads?.texts[1]).to.equal('external metric queue · target');
    expect(loads?.lines).to.deep.equal(['load-0: M56 117.3h0.1M394.7 117.3L564 117.3']);
  });

  it('draws new metrics from their first evaluation', () => {
    const [, loads] = chartsOf({ metric: 'old' }, { metric: 'new' }, { metric: 'new', ratio: 0.75 });
    expect(loads?.lines).to.deep.equal(['load-0: M310 117.3L564 144']);
  });

  it('draws at most six metrics', () => {
    const reported = new ReportedHpas();
    for (const atMs of [DECIDED_AT_MS, DECIDED_AT_MS + 30_000]) reported.decided('shop/web', atMs);
    const found = reported.log.find('shop/web') ?? expect.fail('it was decided');
    const loads = new LoadHistory(
      Array.from({ length: 8 }, (_, index) => `m${index}`),
      2,
    );
    const drawing = drawn(hpaCharts({ ...found, loads })[1]);
    expect(drawing.texts[1]).to.equal('m0 · m1 · m2 · m3 · m4 · m5 · target');
    expect(drawing.lines).to.have.lengthOf(6);
  });

  it('draws neither bounds nor metrics of an unmanaged HPA', () => {
    const reported = new ReportedHpas();
    const other = { manager: 'other', writtenAtMs: DECIDED_AT_MS };
    const charts = (): readonly string[] =>
      hpaCharts(reported.log.find('shop/web') as HpaDecisions).map(String);
    reported.log.recordExternal('shop/web', other, DECIDED_AT_MS);
    expect(charts()).to.deep.equal(['<p class="hint">The chart appears after two decisions.</p>']);
    reported.log.recordExternal('shop/web', other, DECIDED_AT_MS + 30_000);
    expect(charts()).to.have.lengthOf(1);
    expect(drawn(charts()[0])).to.deep.equal({
      texts: ['Replicas', 'replicas · proposed by metrics', '0', '1', '12:00', '12:00:15', '12:00:30'],
      ...{ bounds: [], lines: ['replicas: ', 'proposed: '], size: '0 0 600 260' },
    });
    const never = { ...reported.log.find('shop/web'), decisions: [] } as unknown as HpaDecisions;
    expect(hpaCharts(never).map(String)).to.deep.equal([
      '<p class="hint">The chart appears after two decisions.</p>',
    ]);
  });
});
