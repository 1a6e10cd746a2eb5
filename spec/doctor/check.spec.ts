import { expect } from 'chai';
import { examineEach, ok, remedyOf, uncheckedBy } from '#lib/doctor/check.ts';
import { MissingPermission } from '#lib/doctor/cluster-context.ts';

describe('remedyOf', () => {
  const diagnosis = { title: 'The pod is not served', remedy: 'Ask at `?namespace=NAMESPACE&name=NAME`.' };

  it('puts the names of the case in place of whole words in capitals', () => {
    const names = { NAME: 'web', NAMESPACE: 'shop' };
    expect(remedyOf(diagnosis, names)).to.equal('Ask at `?namespace=shop&name=web`.');
  });

  it('leaves capitals that stand for nothing', () => {
    expect(remedyOf(diagnosis, { NAME: 'web' })).to.include('namespace=NAMESPACE&name=web');
    expect(remedyOf(diagnosis)).to.equal(diagnosis.remedy);
  });

  it('takes names as they are, whatever they mean to a replacement', () => {
    expect(remedyOf(diagnosis, { NAME: '$&' })).to.include('name=$&`');
    expect(remedyOf({ title: 'A', remedy: 'See CONSTRUCTOR.' }, {})).to.equal('See CONSTRUCTOR.');
  });
});

describe('examineEach', () => {
  it('looks at some at once, and tells of all in their order', async () => {
    let running = 0;
    let most = 0;
    const findings = await examineEach(
      Array.from({ length: 40 }, (_, place) => `o-${place}`),
      async (object) => {
        most = Math.max(most, ++running);
        const isOdd = object.endsWith('1');
        for (let step = 0; step < (isOdd ? 1 : 5); step++) await Promise.resolve();
        running--;
        return ok(object, 'seen');
      },
    );
    expect(findings.map(({ subject }) => subject)).to.deep.equal(
      Array.from({ length: 40 }, (_, place) => `o-${place}`),
    );
    expect(most).to.equal(16);
  });
});

describe('uncheckedBy', () => {
  it('names the permission that is missing, where one is', () => {
    expect(uncheckedBy('hpa a/b', new MissingPermission('get scale', undefined))).to.deep.include({
      ...{ status: 'unchecked', subject: 'hpa a/b', missingPermission: 'get scale' },
    });
    expect(uncheckedBy('hpa a/b', new Error('gone'))).to.deep.equal({
      ...{ status: 'unchecked', subject: 'hpa a/b', seen: 'gone' },
    });
  });
});
