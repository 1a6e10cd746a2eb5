import { expect } from 'chai';
import { DIAGNOSES, remedyOf } from '#lib/resource-metrics/doctor/diagnoses.ts';

describe('remedyOf', () => {
  it('puts the names of the case in place of whole words in capitals', () => {
    expect(remedyOf('node-clock-skewed', { NODE: 'worker-1' })).to.equal(
      'Set the clock of worker-1: `timedatectl`, `chronyc makestep`; or that of the machine this runs on.',
    );
    expect(remedyOf('pod-not-served', { NAME: 'web', NAMESPACE: 'shop' })).to.include(
      'namespace=shop&name=web',
    );
  });

  it('takes names as they are, whatever they mean to a replacement', () => {
    expect(remedyOf('node-clock-skewed', { NODE: '$&' })).to.include('clock of $&:');
  });
});

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
