import { expect } from 'chai';
import { imageEnvironment } from '#spec/support/image-environment.ts';

describe('imageEnvironment', () => {
  it("returns the variables of the Dockerfile's last stage", () => {
    expect(imageEnvironment()).to.deep.equal({
      MALLOC_ARENA_MAX: '1',
      MALLOC_MMAP_THRESHOLD_: '32768',
      MALLOC_TRIM_THRESHOLD_: '69632',
    });
  });
});
