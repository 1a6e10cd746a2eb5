import { expect } from 'chai';
import type { CollectedHpa } from '#lib/metrics-adapter/plans/collected-hpa.ts';
import { SeveralSamplesTold, severalSamples } from '#lib/metrics-adapter/plans/several-samples.ts';

describe('SeveralSamplesTold', () => {
  const setUp = () => {
    const known = new Map<string, CollectedHpa>();
    const events: string[] = [];
    const told = new SeveralSamplesTold(known, ({ name }, { query }, note) =>
      events.push(`${name} ${query.key}: ${note}`),
    );
    return {
      ...{ told, events },
      /** Has an HPA ask by a query, or be gone. */
      hpa(name: string, key: string | undefined) {
        if (key === undefined) known.delete(name);
        else known.set(name, { hpa: { name }, metrics: [{ query: { key } }], problems: [] } as never);
        told.changed(name);
      },
      response: (key: string, count: number) =>
        told.look({ key } as never, { notes: count > 1 ? [severalSamples(count)] : [] } as never),
    };
  };

  it('tells each HPA once while a query gives several, and again after it gave one', () => {
    const { hpa, response, events } = setUp();
    hpa('a', 'up');
    for (let times = 0; times < 3; times++) response('up', 2);
    hpa('b', 'up');
    hpa('a', 'up');
    const note = 'The query gives 2 samples, of which the first counts';
    expect(events).to.deep.equal([`a up: ${note}`, `b up: ${note}`]);
    response('up', 1);
    response('up', 3);
    expect(events).to.have.length(4);
  });

  it('remembers no query that no HPA asks by any more', () => {
    const { told, hpa, response } = setUp();
    hpa('b', 'query 0');
    for (let edit = 0; edit < 100; edit++) {
      hpa('a', `query ${edit}`);
      response(`query ${edit}`, 2);
    }
    expect(told.size).to.equal(2);
    hpa('a', undefined);
    expect(told.size).to.equal(1);
    hpa('b', undefined);
    expect(told.size).to.equal(0);
    response('query 0', 2); // it was under way
    expect(told.size).to.equal(0);
  });
});
