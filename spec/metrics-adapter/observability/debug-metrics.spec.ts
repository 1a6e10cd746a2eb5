import { expect } from 'chai';
import { debugMetrics } from '#lib/metrics-adapter/observability/debug-metrics.ts';
import { metricsSource, type ObservedMetrics, reportOf } from '#spec/support/collected-reports.ts';
import { servePage } from '#spec/support/served-page.ts';

const WELL = reportOf('default/web', 'a', { value: 5 });
const FAILING = reportOf('default/api', 'a', { value: 6, error: 'no <route>' });
const MISSING = reportOf('other/web', 'a', { value: 7, error: 'refused', isValid: false });
const NEW = reportOf('other/api', 'a', {});
const REPORTS = [WELL, FAILING, MISSING, NEW];

describe('debugMetrics', () => {
  it('reports the value of each metric, and its next query', async () => {
    const failing = { ...FAILING, nextInMs: 9_999.6 };
    const { collected, problems } = await reported('', { reports: [failing, NEW], problems: ['wrong'] });
    expect(collected[0]).to.deep.equal({
      ...{ hpa: 'default/api', metric: 'External/a', collector: 'counting', query: 'up of a' },
      ...{ intervalMs: 15_000, value: 6, samples: 1, notes: [], isServed: true, error: 'no <route>' },
      ...{ receivedAt: '2026-07-15T06:59:00.000Z', ageMs: 60_000, nextInMs: 10_000 },
      failingSince: '2026-07-15T06:58:00.000Z',
    });
    expect(collected[1]).to.not.have.any.keys('value', 'receivedAt', 'ageMs', 'error', 'failingSince');
    expect(problems).to.deep.equal([{ hpa: 'default/web', metric: 'External/b', error: 'wrong' }]);
  });

  it('reports the selected HPAs', async () => {
    const hpas = async (search: string) => {
      const { collected, problems } = await reported(search, { reports: REPORTS, problems: ['wrong'] });
      return [collected, problems].map((list) => list.map(({ hpa }) => hpa));
    };
    expect(await hpas('?namespace=default')).to.deep.equal([['default/web', 'default/api'], ['default/web']]);
    expect(await hpas('?name=api')).to.deep.equal([['default/api', 'other/api'], []]);
    expect(await hpas('?namespace=other&name=web')).to.deep.equal([['other/web'], []]);
  });

  it('reports that a value per replica is not served without replicas', async () => {
    const existing = { perReplica: true };
    const [none] = (await reported('', { reports: [WELL], collected: { ...existing, replicas: 0 } }))
      .collected;
    expect(none?.isServed).to.equal(false);
    expect(none?.notes).to.deep.equal([
      'The value is served per replica, but the status of the HPA has no replicas',
    ]);
    const [some] = (await reported('', { reports: [WELL], collected: { ...existing, replicas: 1 } }))
      .collected;
    expect(some).to.deep.include({ isServed: true, notes: [] });
  });

  it('refuses a parameter that it does not take', async () => {
    await using page = await servePage(debugMetrics(metricsSource({})));
    const { status, body } = await page.get('?namespce=default');
    expect(status).to.equal(400);
    expect(JSON.parse(body).message).to.equal(
      'unknown query parameter "namespce": supported: namespace, name',
    );
  });

  it('is read alone', async () => {
    await using page = await servePage(debugMetrics(metricsSource({})));
    expect((await page.get('', { method: 'POST' })).status).to.equal(405);
    expect((await page.get('', { method: 'HEAD' })).status).to.equal(200);
  });
});

async function reported(search: string, observed: ObservedMetrics) {
  await using page = await servePage(debugMetrics(metricsSource(observed)));
  const { status, body } = await page.get(search);
  expect(status).to.equal(200);
  return JSON.parse(body) as Record<
    'collected' | 'problems',
    { hpa: string; isServed: boolean; notes: string[] }[]
  >;
}
