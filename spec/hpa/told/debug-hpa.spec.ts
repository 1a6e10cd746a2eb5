import { expect } from 'chai';
import type { Outcome } from '#lib/hpa/decision.ts';
import { debugHpa } from '#lib/hpa/told/debug-hpa.ts';
import { DecisionLog } from '#lib/hpa/told/decision-log.ts';
import { hpaCharts } from '#lib/hpa/told/hpa-charts.ts';
import { decisionLine } from '#lib/hpa/told/hpa-text.ts';
import { explainedAt, followedWeb } from '../auto-min/built-decision.ts';

const web = followedWeb({ minReplicas: 2 });

/** HPAs of which each was decided on once, but for the first, which was again half a minute later. */
function decided(): DecisionLog {
  const log = new DecisionLog();
  const decide = (namespace: string, name: string, atMs: number, facts: object = {}) => {
    const explanation = { ...explainedAt(1.5, { minReplicas: 2 }), atMs, proposedReplicas: 3, ...facts };
    const outcome = { explanation, desiredReplicas: explanation.desiredReplicas } as unknown as Outcome;
    const metadata = { ...web.metadata, namespace, name };
    log.record(`${namespace}/${name}`, outcome, { hpa: { ...web, metadata }, isDryRun: false });
  };
  decide('default', 'web', 0);
  decide('default', 'web', 30_000, { desiredReplicas: 3 });
  decide('shop', 'till', 0);
  return log;
}

function asked(search: string, { method = 'GET', accepts = 'json' } = {}) {
  const context = {
    ...{ method, type: '', body: Buffer.alloc(0), accepts: () => accepts },
    state: { query: new URLSearchParams(search) },
  };
  void debugHpa(decided(), { find: () => undefined })(context as never);
  return { type: context.type, text: context.body.toString() };
}

describe('debugHpa', () => {
  it('tells of all HPAs in short, or of those of a namespace', () => {
    const names = (search: string) =>
      JSON.parse(asked(search).text).hpas.map((one: { readonly name: string }) => one.name);
    expect(names('')).to.deep.equal(['web', 'till']);
    expect(names('namespace=shop')).to.deep.equal(['till']);
    expect(JSON.parse(asked('').text).hpas[0]).to.deep.include({ namespace: 'default' });
    expect(JSON.parse(asked('').text).hpas[0].latest).to.include({ atMs: 30_000, desiredReplicas: 3 });
  });

  it('tells a decision on a line where text is asked for, or no JSON is accepted', () => {
    const lines = [
      'default/web  1970-01-01T00:00:30Z  2 -> 3  scaled  metrics, metrics ask for 3',
      'shop/till  1970-01-01T00:00:00Z  2 -> 2  scaled  metrics, metrics ask for 3',
    ];
    for (const response of [asked('format=text'), asked('', { accepts: 'text' })]) {
      expect(response.type).to.equal('text/plain; charset=utf-8');
      expect(response.text).to.equal(`${lines.join('\n')}\n`);
    }
    expect(asked('format=json', { accepts: 'text' }).type).to.equal('application/json');
    expect(asked('namespace=default&name=web&format=text').text).to.contain('2 -> 3  scaled');
  });

  it('tells all of one', () => {
    const { decisions, explanation } = JSON.parse(asked('namespace=default&name=web').text);
    expect([decisions.length, explanation.atMs]).to.deep.equal([2, 30_000]);
  });

  it('tells that an HPA was left alone, among what was decided before, and of none that is met so', () => {
    const log = decided();
    const other = { manager: 'kube-controller-manager', writtenAtMs: 44_000 };
    log.steppedAside('default/web', other, 45_000);
    log.steppedAside('shop/new', other, 45_000);
    const [, , left] = log.find('default/web')?.decisions ?? [];
    const expected = { atMs: 45_000, step: 'controlled-elsewhere', isScaled: false };
    expect(left).to.deep.include(expected);
    expect(left && decisionLine(left)).to.equal('1970-01-01T00:00:45Z  ? -> ?  stayed  controlled-elsewhere');
    const met = log.find('shop/new');
    expect(met).to.deep.include({ namespace: 'shop', name: 'new', other, explanation: undefined });
    expect(met?.decisions).to.have.lengthOf(1);
    expect(met?.decisions[0]).to.deep.include(expected);
  });

  it('refuses what it cannot tell, and says why', () => {
    for (const [search, code, message] of [
      ['namespace=default&name=gone', 404, /default\/gone/],
      ['name=web', 404, /web/],
      ['format=xml', 400, /^format must be json or text$/],
    ] as const) {
      expect(() => asked(search), search)
        .to.throw(message)
        .which.includes({ code });
    }
    expect(() => asked('', { method: 'POST' }))
      .to.throw()
      .which.includes({ code: 405 });
  });
});

describe('hpaCharts', () => {
  const drawn = (key: string) => {
    const found = decided().find(key);
    return (found ? hpaCharts(found) : []).map(String).join('\n');
  };

  it('draws replicas, and metrics against their targets, once there are two decisions', () => {
    expect(drawn('default/web'))
      .to.contain('Replicas')
      .and.contain('Metrics, in % of their targets')
      .and.contain('bounds 2 to 100');
    expect(drawn('shop/till')).to.contain('A drawing takes two decisions.').and.not.contain('<svg');
  });
});
