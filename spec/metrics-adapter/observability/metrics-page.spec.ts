import { expect } from 'chai';
import { renderMetrics } from '#lib/metrics-adapter/observability/metrics-page.ts';
import { metricsUi } from '#lib/metrics-adapter/observability/metrics-ui.ts';
import { readPageQuery } from '#lib/ui/page-query.ts';
import { metricsSource, type ObservedMetrics, reportOf } from '#spec/support/collected-reports.ts';

const WELL = reportOf('default/web', 'a', { value: 5 });
const FAILING = reportOf('default/api', 'a', { value: 6, error: 'no <route>' });
const MISSING = reportOf('other/web', 'a', { value: 7, error: 'refused', isValid: false });
const NEW = reportOf('other/api', 'a', {});
const REPORTS = [WELL, FAILING, MISSING, NEW];

describe('renderMetrics', () => {
  it('lists failing metrics first, with value, time and cause', () => {
    const page = shown('', { reports: REPORTS, problems: ['there is no <source>'] });
    expect(page).to.match(/^ Metrics of HPAs 5 /);
    expect(page).to.match(
      /Failing default\/web External\/b – – – – – – there is no &lt;source&gt; Degraded default\/api/,
    );
    expect(page).to.match(
      /Degraded default\/api External\/a counting 6 1m ago 15s in 10s up of a no &lt;route&gt; \( for 2m \)/,
    );
    expect(page).to.match(/Failing other\/web External\/a counting 7 1m ago .* refused/);
    expect(page).to.match(/Pending other\/api External\/a counting – – 15s in 10s up of a/);
    expect(page).to.match(/Healthy default\/web External\/a counting 5 1m ago 15s in 10s up of a $/);
  });

  it('shows the number of several samples, and notes', () => {
    const several = reportOf('default/web', 'a', { value: 5, samples: 3, notes: ['several <samples>'] });
    expect(shown('', { reports: [several] })).to.match(/ 5 of 3 1m ago .* several &lt;samples&gt;/);
    expect(shown('', { reports: [WELL] })).to.not.match(/of 1/);
  });

  it('lists the selected metrics, or that there are none', () => {
    const names = (search: string) =>
      shown(search, { reports: REPORTS, problems: ['wrong'] }).match(/(?:default|other)\/(?:web|api)/g);
    expect(names('&namespace=other')).to.deep.equal(['other/web', 'other/api']);
    expect(names('&name=api')).to.deep.equal(['default/api', 'other/api']);
    expect(names('&filter=t/we')).to.deep.equal(['default/web', 'default/web']);
    expect(shown('', {})).to.include('No HPA has a metric that the autoscaler collects.');
  });

  it('links to the HPA, where the page shows HPAs', () => {
    const query = (views: readonly string[]) => readPageQuery(new URLSearchParams(), views);
    const source = metricsSource({ reports: [WELL] });
    expect(renderMetrics(query(['hpas']), source).toString()).to.include(
      '<a href="?view=hpas&amp;namespace=default&amp;name=web">default/web</a>',
    );
    expect(renderMetrics(query([]), source).toString()).to.not.include('<a href="?view=hpas');
  });

  it('shows the query of a metric that is no longer cached', () => {
    const gone = { ...WELL, owner: 'default/gone' };
    expect(shown('', { reports: [gone] })).to.match(/Healthy default\/gone – – 5 1m ago/);
  });
});

describe('metricsUi', () => {
  it('counts metrics and problems, and unhealthy ones', () => {
    const ui = metricsUi(metricsSource({ reports: REPORTS, problems: ['wrong', 'wrong, too'] }));
    expect(ui.summary()).to.deep.equal({ count: 6, unhealthy: 5, problem: 'failing or not served' });
    expect(ui).to.include({ view: 'metrics', title: 'Metrics' });
  });
});

/** The text of the page without markup. */
function shown(search: string, observed: ObservedMetrics): string {
  const query = readPageQuery(new URLSearchParams(`view=metrics${search}`), ['metrics']);
  const page = renderMetrics(query, metricsSource(observed)).toString();
  return page.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
}
