import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import type { ApiContext, RequestState } from '#lib/apiserver/http/api-context.ts';
import type { Outcome } from '#lib/hpa/decision/decision.ts';
import { debugHpa, decisionLine, hpaText } from '#lib/hpa/observability/debug-hpa.ts';
import { DecisionLog } from '#lib/hpa/observability/decision-log.ts';
import { hpaCharts } from '#lib/hpa/observability/hpa-page.ts';
import { explainedAt, webHpa } from '#spec/hpa/min-replicas/built-decision.ts';
import { DECIDED_AT_MS, type ReportedFacts, ReportedHpas } from './reported-hpas.ts';

const web = webHpa({ minReplicas: 2 });

/** HPAs with one decision each, except the first, with a second one half a minute later. */
function decided(): DecisionLog {
  const log = new DecisionLog();
  const decide = (namespace: string, name: string, atMs: number, facts: object = {}) => {
    const explanation = { ...explainedAt(1.5, { minReplicas: 2 }), atMs, proposedReplicas: 3, ...facts };
    const { desiredReplicas } = explanation;
    const outcome = { explanation, desiredReplicas, status: { desiredReplicas: 2 } } as unknown as Outcome;
    const metadata = { ...web.metadata, namespace, name };
    log.record(`${namespace}/${name}`, outcome, { hpa: { ...web, metadata }, isDryRun: false });
  };
  decide('default', 'web', 0);
  decide('default', 'web', 30_000, { desiredReplicas: 3 });
  decide('shop', 'till', 0);
  return log;
}

function requested(
  search: string,
  {
    method = 'GET',
    accept = 'application/json',
    log = decided(),
    minimum = undefined as string | undefined,
  } = {},
) {
  const request = Object.assign(new IncomingMessage(new Socket()), { method, headers: { accept } });
  const context = new Koa<RequestState>().createContext(
    request,
    new ServerResponse(request),
  ) as unknown as ApiContext;
  context.state.query = new URLSearchParams(search);
  void debugHpa(log, { find: (key) => (key === 'default/web' ? minimum : undefined) })(context);
  return { type: context.response.get('Content-Type'), text: String(context.body) };
}

describe('debugHpa', () => {
  it('summarizes all HPAs, or those of a namespace', () => {
    const names = (search: string) =>
      JSON.parse(requested(search).text).hpas.map((one: { readonly name: string }) => one.name);
    expect(names('')).to.deep.equal(['web', 'till']);
    expect(names('namespace=shop')).to.deep.equal(['till']);
    expect(JSON.parse(requested('').text).hpas[0]).to.deep.include({ namespace: 'default' });
    expect(JSON.parse(requested('').text).hpas[0].latest).to.include({ atMs: 30_000, desiredReplicas: 3 });
  });

  it('returns a line per decision for text', () => {
    const lines = [
      'default/web  1970-01-01T00:00:30Z  2 -> 3  scaled  metrics, metrics propose 3',
      'shop/till  1970-01-01T00:00:00Z  2 -> 2  scaled  metrics, metrics propose 3',
    ];
    for (const response of [requested('format=text'), requested('', { accept: 'text/plain' })]) {
      expect(response.type).to.equal('text/plain; charset=utf-8');
      expect(response.text).to.equal(`${lines.join('\n')}\n`);
    }
    expect(requested('format=json', { accept: 'text/plain' }).type).to.match(/^application\/json/);
    for (const accept of ['*/*', 'image/png', 'application/json, text/plain'])
      expect(requested('', { accept }).type, accept).to.match(/^application\/json/);
    expect(requested('', { method: 'HEAD', accept: 'text/plain' }).type).to.equal(
      'text/plain; charset=utf-8',
    );
    expect(requested('namespace=default&name=web&format=text').text).to.contain('scaled from 2 to 3');
  });

  it('describes one HPA', () => {
    const { decisions, explanation } = JSON.parse(requested('namespace=default&name=web').text);
    expect([decisions.length, explanation.atMs]).to.deep.equal([2, 30_000]);
    const minimum = 'stays 2: the load of the last week requires 2';
    const of = (search: string) => requested(`namespace=default&name=web${search}`, { minimum }).text;
    expect(JSON.parse(of('')).autoMinReplicas).to.equal(minimum);
    expect(of('&format=text')).to.equal(
      `HorizontalPodAutoscaler default/web
decided at 1970-01-01T00:00:30Z
2 replicas, bounds 2 to 100: scales to 3
cpu: no average of : proposes 2
  ratio 1.5: outside the tolerance
automatic minReplicas: stays 2: the load of the last week requires 2

last 2 decisions, latest first, in UTC:
1970-01-01
00:00:30  scaled from 2 to 3, metrics propose 3
00:00:00  stayed at 2, metrics propose 3
`,
    );
  });

  it('returns 404 without a decision', () => {
    const log = new DecisionLog();
    expect(JSON.parse(requested('', { log }).text)).to.deep.equal({ hpas: [] });
    expect(requested('format=text', { log }).text).to.equal('\n');
  });

  it('reports another controller among earlier decisions, and for a new HPA', () => {
    const log = decided();
    const other = { manager: 'kube-controller-manager', writtenAtMs: 44_000 };
    log.recordExternal('default/web', other, 45_000);
    log.recordExternal('shop/new', other, 45_000);
    const [, , left] = log.find('default/web')?.decisions ?? [];
    const expected = { atMs: 45_000, step: 'controlled-elsewhere', isScaled: false };
    expect(left).to.deep.include(expected);
    expect(left && decisionLine(left)).to.equal('1970-01-01T00:00:45Z  ? -> ?  stayed  controlled-elsewhere');
    const met = log.find('shop/new');
    expect(met).to.deep.include({ namespace: 'shop', name: 'new', other, explanation: undefined });
    expect(met?.decisions).to.have.lengthOf(1);
    expect(met?.decisions[0]).to.deep.include(expected);
  });

  it('rejects invalid queries, with the cause', () => {
    for (const [search, code, message] of [
      ['namespace=default&name=gone', 404, /default\/gone/],
      ['name=web', 404, /web/],
      ['namespce=a', 400, /^unknown query parameter "namespce": supported: namespace, name, format$/],
      ['format=xml', 400, /^the parameter "format" must be "json" or "text"$/],
    ] as const) {
      expect(() => requested(search), search)
        .to.throw(message)
        .which.includes({ code });
    }
    expect(() => requested('', { method: 'POST' }))
      .to.throw()
      .which.includes({ code: 405 });
  });
});

describe('hpaCharts', () => {
  const drawn = (key: string) => {
    const found = decided().find(key);
    return (found ? hpaCharts(found) : []).map(String).join('\n');
  };

  it('draws replicas and metrics once there are two decisions', () => {
    expect(drawn('default/web'))
      .to.contain('Replicas')
      .and.contain('Metrics, in % of their targets')
      .and.contain('bounds 2 to 100');
    expect(drawn('shop/till')).to.contain('The chart appears after two decisions.').and.not.contain('<svg');
  });
});

const without = { proposedReplicas: undefined, leadingMetric: undefined };

describe('hpaText', () => {
  const textOf = (reported: ReportedHpas, minimum?: string) =>
    hpaText(reported.log.find('shop/web') ?? expect.fail('it was decided'), minimum);

  it('shows the decision of a dry run, and whether the status agrees', () => {
    const reported = new ReportedHpas();
    const facts: ReportedFacts = { isDryRun: true, desiredReplicas: 3, proposedReplicas: 3, ratio: 1.5 };
    reported.decided('shop/web', DECIDED_AT_MS, { ...facts, statusReplicas: 3 });
    reported.decided('shop/web', DECIDED_AT_MS + 15_000, { ...facts, statusReplicas: 2, isScaled: true });
    reported.decided('shop/web', DECIDED_AT_MS + 30_000, facts); // without a status write
    expect(textOf(reported)).to.equal(`HorizontalPodAutoscaler shop/web
decided at 2026-01-01T12:00:30Z
2 replicas, bounds 2 to 100: would scale to 3
cpu resource: no average of 10: proposes 2, the highest
  ratio 1.5: outside the tolerance
  scales up above 11, down below 9

last 3 decisions, latest first, in UTC:
2026-01-01
12:00:15–12:00:30  2 × would scale from 2 to 3 (dry run: differs from the status), metrics propose 3
12:00:00  would scale from 2 to 3 (dry run: same as the status), metrics propose 3`);
  });

  it('shows another controller, an invalid annotation, and automatic minReplicas', () => {
    const reported = new ReportedHpas();
    const lost = { step: 'no-scale', currentReplicas: undefined, desiredReplicas: undefined } as const;
    const problem = 'annotation platform.stke/resync-period "5" is no duration';
    reported.decided('shop/web', DECIDED_AT_MS, { ...without, ...lost, error: 'no such target', problem });
    expect(textOf(reported, 'left alone')).to.equal(`HorizontalPodAutoscaler shop/web
decided at 2026-01-01T12:00:00Z
scale of the target unknown; bounds 2 to 100
cpu resource: no average of 10: proposes 2
  ratio 1: outside the tolerance
  scales up above 11, down below 9
ignored: annotation platform.stke/resync-period "5" is no duration
automatic minReplicas: left alone

last 1 decisions, latest first, in UTC:
2026-01-01
12:00:00  not scaled: no scale: no such target`);
    const met = new ReportedHpas();
    met.log.recordExternal(
      'shop/web',
      { manager: 'other', writtenAtMs: DECIDED_AT_MS - 5000 },
      DECIDED_AT_MS,
    );
    expect(textOf(met)).to.equal(`HorizontalPodAutoscaler shop/web
not scaled: "other" wrote the status of this HPA at 2026-01-01T11:59:55Z

last 1 decisions, latest first, in UTC:
2026-01-01
12:00:00  not scaled: controlled elsewhere`);
  });

  it('shows a calculation of two hundred lines in full', () => {
    const reported = new ReportedHpas();
    reported.decided('shop/web', DECIDED_AT_MS);
    const found = reported.log.find('shop/web') ?? expect.fail('it was decided');
    const { explanation: explained } = found;
    const [metric] = explained?.metrics ?? [];
    if (!explained || !metric) throw new Error('it was explained');
    const { proposal: _, ...others } = metric;
    const failed = { ...others, failure: { reason: '', message: 'm', error: '', isRefusal: false } };
    const linesOf = (count: number) => {
      const metrics = Array.from({ length: count }, (_, index) => ({ ...failed, name: `m${index}` }));
      const explanation = { ...explained, metrics };
      return hpaText({ ...found, explanation }, undefined)
        .split('\n')
        .slice(2, -4);
    };
    const whole = linesOf(199);
    expect([whole.length, whole.at(-1)]).to.deep.equal([200, 'm198: failed: m']);
    const cut = linesOf(200);
    expect(cut).to.have.lengthOf(201);
    expect(cut.slice(99, 102)).to.deep.equal([
      ...['m98: failed: m', '… 1 more lines; JSON has all of them …', 'm100: failed: m'],
    ]);
  });

  it('truncates lines of more than a thousand characters', () => {
    const reported = new ReportedHpas();
    const lineOf = (length: number) => {
      reported.decided('shop/web', DECIDED_AT_MS, {
        ratio: null,
        metric: 'x'.repeat(length - ': failed: connection refused'.length),
      });
      return textOf(reported).split('\n')[3] ?? '';
    };
    expect(lineOf(1000))
      .to.match(/x: failed: connection refused$/)
      .and.have.lengthOf(1000);
    expect(lineOf(1001)).to.match(/x… 1 more characters …x+: failed: connection refused$/);
  });
});
