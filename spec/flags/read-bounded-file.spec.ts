import { expect } from 'chai';
import { readBoundedFile } from '#lib/flags/read-bounded-file.ts';
import { errorOf } from '#spec/support/error-of.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

describe('readBoundedFile', () => {
  let folder: TemporaryDirectory;

  before(async () => {
    folder = await TemporaryDirectory.create();
  });

  after(() => folder[Symbol.asyncDispose]());

  it('reads a file of the maximum length in bytes, and refuses one more', async () => {
    const file = await folder.write('text', 'é'.repeat(100_000));
    expect(await readBoundedFile(file, 200_000)).to.equal('é'.repeat(100_000));
    expect(await errorOf(readBoundedFile(file, 199_999))).to.equal('longer than 199999 bytes');
  });

  it('refuses a file without an end at its bound', async () => {
    expect(await errorOf(readBoundedFile('/dev/zero', 1_000_000))).to.equal('longer than 1000000 bytes');
  });
});
