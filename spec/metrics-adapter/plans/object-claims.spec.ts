import { expect } from 'chai';
import { ObjectClaims } from '#lib/metrics-adapter/plans/object-claims.ts';

const claim = (queryKey: string, createdAt: string, subject = 's') => ({ subject, queryKey, createdAt });

describe('ObjectClaims', () => {
  it('lets the HPA that was created first have its way, in whatever order they are told of', () => {
    const claims = new ObjectClaims();
    claims.put('new', [claim('b', '2026-01-02T00:00:00Z')]);
    expect(claims.rivalOf('new', 's')).to.equal(undefined);
    claims.put('old', [claim('a', '2026-01-01T00:00:00Z')]);
    expect(claims.rivalOf('new', 's')).to.equal('old');
    expect(claims.rivalOf('old', 's')).to.equal(undefined);
    claims.put('old', []);
    expect(claims.rivalOf('new', 's')).to.equal(undefined);
  });

  it('has nothing against equal queries and other subjects', () => {
    const claims = new ObjectClaims();
    claims.put('a', [claim('q', '1'), claim('x', '1', 'other')]);
    claims.put('b', [claim('q', '2')]);
    expect(claims.rivalOf('b', 's')).to.equal(undefined);
    expect(claims.rivalOf('b', 'other')).to.equal(undefined);
  });

  it('takes the name where two were created in one second', () => {
    const claims = new ObjectClaims();
    claims.put('b', [claim('1', 't')]);
    claims.put('a', [claim('2', 't')]);
    expect(claims.rivalOf('b', 's')).to.equal('a');
  });
});
