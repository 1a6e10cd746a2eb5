import { expect } from 'chai';
import { DIAGNOSES } from '#lib/resource-metrics/doctor/diagnoses.ts';

describe('DIAGNOSES', () => {
  it('are claims and instructions: whole sentences, each title once', () => {
    const titles = Object.values(DIAGNOSES).map(({ title }) => title);
    expect(new Set(titles).size).to.equal(titles.length);
    for (const { title, remedy } of Object.values(DIAGNOSES)) {
      expect(title).to.match(/^(metrics\.k8s\.io|[A-Z]).*[^.]$/);
      expect(remedy).to.match(/^[A-Z].*\.$/);
    }
  });
});
