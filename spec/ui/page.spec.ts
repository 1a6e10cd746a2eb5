import { expect } from 'chai';
import { html } from '#lib/ui/html.ts';
import { pageShell } from '#lib/ui/page.ts';
import { readPageQuery } from '#lib/ui/page-query.ts';

describe('pageShell', () => {
  const linksOf = (unhealthy: number) => {
    const links = [
      { view: '', title: 'Overview' },
      { view: 'hpas', title: 'HPAs', summary: { count: 6, unhealthy, problem: 'not ready' } },
    ];
    const query = readPageQuery(new URLSearchParams(), ['hpas']);
    const frame = { program: 'autoscaler', title: 'Overview', nowMs: 0, body: html`` };
    const page = pageShell({ ...frame, query, links }).toString();
    return /<nav.*<\/nav>/.exec(page)?.[0];
  };

  it('shows the number of objects in a link', () => {
    expect(linksOf(0)).to.include('Overview</a>').and.to.include('HPAs <span class="count">6</span></a>');
  });

  it('highlights how many objects need attention', () => {
    expect(linksOf(2)).to.include('HPAs <span class="count bad" title="2 not ready">2 of 6</span></a>');
  });
});
