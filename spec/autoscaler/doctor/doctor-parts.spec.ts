import { expect } from 'chai';
import { autoscalerDiagnoses } from '#spec/support/autoscaler-diagnoses.ts';

describe('doctorParts', () => {
  it('bring diagnoses that are claims and instructions: whole sentences, each title once', () => {
    const diagnoses = Object.values(autoscalerDiagnoses());
    expect(diagnoses.length).to.be.greaterThan(15);
    expect(new Set(diagnoses.map(({ title }) => title)).size).to.equal(diagnoses.length);
    for (const { title, remedy } of diagnoses) {
      expect(title).to.match(/^[A-Z].*[^.]$/);
      expect(remedy).to.match(/^[A-Z].*\.$/);
    }
  });
});
