import { expect } from 'chai';
import { patientQuery } from '#lib/scaled-objects/triggers/patient-query.ts';
import type { Query } from '#lib/sources/query.ts';

const QUERY: Query = { key: 'a', description: 'a', ask: async () => [] };

describe('patientQuery', () => {
  it('leaves a query alone whose request takes no longer than queries wait', () => {
    for (const timeoutMs of [1, 3_000, 14_000]) expect(patientQuery(QUERY, timeoutMs)).to.equal(QUERY);
  });

  it('has a query wait for a request that may take longer', () => {
    expect(patientQuery(QUERY, 14_001)).to.deep.equal({ ...QUERY, timeoutMs: 15_001 });
    expect(patientQuery(QUERY, 60_000)).to.deep.equal({ ...QUERY, timeoutMs: 61_000 });
  });
});
