import { expect } from 'chai';
import { negotiate } from '#simulator/api-server/representation.ts';
import { ApiError } from '#simulator/api-server/status.ts';

describe('negotiate', () => {
  const metadata = 'as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
  const protobuf = 'application/vnd.kubernetes.protobuf';

  for (const [accept, view] of [
    [undefined, 'Object'],
    ['*/*', 'Object'],
    [`${protobuf}, */*`, 'Object'],
    [`${protobuf};${metadata},application/json;${metadata},application/json`, 'PartialObjectMetadata'],
    ['application/json;as=Table;v=v1;g=meta.k8s.io,application/json', 'Table'],
    ['application/json;as=Other;v=v1;g=meta.k8s.io,application/json', 'Object'],
    ['application/json;q=0.1,application/json;as=Table;v=v1;g=meta.k8s.io;q=0.9', 'Table'],
  ] as const) {
    it(`negotiates ${view} for ${accept}`, () => expect(negotiate(accept).view).to.equal(view));
  }

  it('refuses clients that accept other formats only', () => {
    expect(() => negotiate(protobuf))
      .to.throw(ApiError)
      .with.property('code', 406);
  });
});
