import { expect } from 'chai';
import { refuseUnknownParameters } from '#lib/apiserver/http/known-parameters.ts';

describe('refuseUnknownParameters', () => {
  const refusing = (query: string, known: readonly string[]) => () =>
    refuseUnknownParameters(new URLSearchParams(query), known);

  it('takes what is known, once or more often, and what clients put into any query', () => {
    expect(refusing('', [])).not.to.throw();
    expect(refusing('name=a&name=b&pretty=1&timeout=5s', ['namespace', 'name'])).not.to.throw();
  });

  it('refuses the first that means nothing, and names those that do', () => {
    expect(refusing('name=a&nmae=b&x=y', ['namespace', 'name']))
      .to.throw('unknown query parameter "nmae": it takes namespace, name')
      .with.property('code', 400);
    expect(refusing('name=a', [])).to.throw('unknown query parameter "name": it takes none');
    expect(refusing(`${'a'.repeat(200)}=`, [])).to.throw(`"${'a'.repeat(100)}": it takes none`);
  });
});
