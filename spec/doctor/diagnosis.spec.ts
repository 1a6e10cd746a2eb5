import { expect } from 'chai';
import { remedyOf } from '#lib/doctor/diagnosis.ts';

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
