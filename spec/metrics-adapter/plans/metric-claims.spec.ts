import { expect } from 'chai';
import { MetricClaims } from '#lib/metrics-adapter/plans/metric-claims.ts';

const claim = (queryKey: string, createdAt: string, subject = 's') => ({ subject, queryKey, createdAt });

describe('MetricClaims', () => {
  it('lets the HPA that was created first have its way, in whatever order they are told of', () => {
    const claims = new MetricClaims();
    claims.put('new', [claim('b', '2026-01-02T00:00:00Z')]);
    expect(claims.rivalOf('new', 's')).to.equal(undefined);
    claims.put('old', [claim('a', '2026-01-01T00:00:00Z')]);
    expect(claims.rivalOf('new', 's')).to.equal('old');
    expect(claims.rivalOf('old', 's')).to.equal(undefined);
    claims.put('old', []);
    expect(claims.rivalOf('new', 's')).to.equal(undefined);
  });

  it('has nothing against equal queries and other subjects', () => {
    const claims = new MetricClaims();
    claims.put('a', [claim('q', '1'), claim('x', '1', 'other')]);
    claims.put('b', [claim('q', '2')]);
    expect(claims.rivalOf('b', 's')).to.equal(undefined);
    expect(claims.rivalOf('b', 'other')).to.equal(undefined);
  });

  it('takes the name where two were created in one second', () => {
    const claims = new MetricClaims();
    claims.put('b', [claim('1', 't')]);
    claims.put('a', [claim('2', 't')]);
    expect(claims.rivalOf('b', 's')).to.equal('a');
  });

  it('tells whom another has its way with now, or no longer', () => {
    const claims = new MetricClaims();
    expect([...claims.put('new', [claim('b', '3')])]).to.deep.equal([]);
    expect([...claims.put('equal', [claim('a', '2')])]).to.deep.equal(['new']);
    expect([...claims.put('old', [claim('a', '1')])]).to.deep.equal(['new']);
    expect([...claims.put('old', [claim('a', '1')])]).to.deep.equal([]);
    expect([...claims.put('old', [claim('b', '1')])].sort()).to.deep.equal(['equal', 'new']);
    expect([...claims.put('old', [])].sort()).to.deep.equal(['equal', 'new']);
    expect([...claims.put('equal', [])]).to.deep.equal(['new']);
    expect(claims.rivalOf('new', 's')).to.equal(undefined);
  });
});
