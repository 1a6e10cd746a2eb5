import { expect } from 'chai';
import type { CollectedHpa } from '#lib/metrics-adapter/plans/collected-hpa.ts';
import {
  QueryNotices,
  severalSamples,
  severalSamplesNote,
} from '#lib/metrics-adapter/plans/query-notices.ts';

describe('QueryNotices', () => {
  const setUp = () => {
    const existing = new Map<string, CollectedHpa>();
    const events: string[] = [];
    const notices = new QueryNotices(existing, ({ name }, { query }, note) =>
      events.push(`${name} ${query.key}: ${note}`),
    );
    return {
      ...{ notices, events },
      /** Makes an HPA use a query, or deletes it. */
      hpa(name: string, key: string | undefined) {
        if (key === undefined) existing.delete(name);
        else existing.set(name, { hpa: { name }, metrics: [{ query: { key } }], problems: [] } as never);
        notices.changed(name);
      },
      response: (key: string, count: number) =>
        notices.update(key, severalSamplesNote(count > 1 ? ['other', severalSamples(count)] : ['other'])),
    };
  };

  it('records it once on each HPA while a query has one, and again after it had none', () => {
    const { hpa, response, events } = setUp();
    hpa('a', 'up');
    for (let times = 0; times < 3; times++) response('up', 2);
    hpa('b', 'up');
    hpa('a', 'up');
    const note = 'The query returned 2 samples; the first is used';
    expect(events).to.deep.equal([`a up: ${note}`, `b up: ${note}`]);
    response('up', 1);
    response('up', 3);
    expect(events).to.have.length(4);
  });

  it('retains no query that no HPA uses', () => {
    const { notices, hpa, response } = setUp();
    hpa('b', 'query 0');
    for (let edit = 0; edit < 100; edit++) {
      hpa('a', `query ${edit}`);
      response(`query ${edit}`, 2);
    }
    expect(notices.size).to.equal(2);
    hpa('a', undefined);
    expect(notices.size).to.equal(1);
    hpa('b', undefined);
    expect(notices.size).to.equal(0);
    response('query 0', 2); // it was in progress
    expect(notices.size).to.equal(0);
  });
});
