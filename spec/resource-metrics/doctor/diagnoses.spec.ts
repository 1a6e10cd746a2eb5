import { expect } from 'chai';
import { DIAGNOSES } from '#lib/resource-metrics/doctor/diagnoses.ts';

describe('DIAGNOSES', () => {
  it('have unique titles and whole sentences', () => {
    const titles = Object.values(DIAGNOSES).map(({ title }) => title);
    expect(new Set(titles).size).to.equal(titles.length);
    for (const { title, remedy } of Object.values(DIAGNOSES)) {
      expect(title).to.match(/^(metrics\.k8s\.io|[A-Z]).*[^.]$/);
      expect(remedy).to.match(/^[A-Z].*\.$/);
    }
  });
});
