import { expect } from 'chai';
import { examineEach, failedBy, findingsOr, formatRemedy, note, ok, unchecked } from '#lib/doctor/check.ts';
import { MissingPermission } from '#lib/doctor/cluster-context.ts';

describe('formatRemedy', () => {
  const diagnosis = { title: 'The pod is not served', remedy: 'Ask at `?namespace=NAMESPACE&name=NAME`.' };

  it('replaces whole words in capitals', () => {
    const names = { NAME: 'web', NAMESPACE: 'shop' };
    expect(formatRemedy(diagnosis, names)).to.equal('Ask at `?namespace=shop&name=web`.');
  });

  it('retains placeholders without a value', () => {
    expect(formatRemedy(diagnosis, { NAME: 'web' })).to.include('namespace=NAMESPACE&name=web');
    expect(formatRemedy(diagnosis)).to.equal(diagnosis.remedy);
  });

  it('inserts values literally', () => {
    expect(formatRemedy(diagnosis, { NAME: '$&' })).to.include('name=$&`');
    expect(formatRemedy({ title: 'A', remedy: 'See CONSTRUCTOR.' }, {})).to.equal('See CONSTRUCTOR.');
  });
});

describe('failedBy', () => {
  it('inserts the remedy of the cause, and then fills the placeholders of both', () => {
    const failed = failedBy({ silent: { title: 'Silent', remedy: 'REMEDY Then restart NAME.' } });
    const remedyFor = (name: string, remedy?: string) => {
      const found = failed('a', 'b', { diagnosis: 'silent', NAME: name, ...(remedy && { remedy }) });
      return found.status === 'failed' ? found.remedy : undefined;
    };
    expect(remedyFor('web', 'Start NAME.')).to.equal('Start web. Then restart web.');
    expect(remedyFor('NAME', 'Start NAME: $&.')).to.equal('Start NAME: $&. Then restart NAME.');
    expect(remedyFor('web')).to.equal('REMEDY Then restart web.');
  });
});

describe('examineEach', () => {
  it('examines up to 16 objects concurrently, and returns findings in their order', async () => {
    let running = 0;
    let max = 0;
    const findings = await examineEach(
      Array.from({ length: 40 }, (_, index) => `o-${index}`),
      async (object) => {
        max = Math.max(max, ++running);
        const isOdd = object.endsWith('1');
        for (let step = 0; step < (isOdd ? 1 : 5); step++) await Promise.resolve();
        running--;
        return ok(object, 'seen');
      },
    );
    expect(findings.map(({ subject }) => subject)).to.deep.equal(
      Array.from({ length: 40 }, (_, index) => `o-${index}`),
    );
    expect(max).to.equal(16);
  });
});

describe('findingsOr', () => {
  it('returns the findings, or a note that no object exists or passed the earlier checks', () => {
    const found = [ok('node "a"', 'responds')];
    expect(findingsOr('nodes', found, ['a'])).to.equal(found);
    expect(findingsOr('nodes', [], [])).to.deep.equal([note('nodes', 'none exist')]);
    for (const objects of [['a'], undefined])
      expect(findingsOr('nodes', [], objects)).to.deep.equal([
        note('nodes', 'not checked: no object passed the earlier checks'),
      ]);
  });
});

describe('unchecked', () => {
  it('includes the missing permission, if any', () => {
    expect(unchecked('hpa a/b', new MissingPermission('get scale', undefined))).to.deep.include({
      ...{ status: 'unchecked', subject: 'hpa a/b', missingPermission: 'get scale' },
    });
    expect(unchecked('hpa a/b', new Error('gone'))).to.deep.equal({
      ...{ status: 'unchecked', subject: 'hpa a/b', seen: 'gone' },
    });
  });
});
