import { execFile } from 'node:child_process';
import { readdir, readFile, rename } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';
import { type BuiltImage, buildImage } from './build-image.ts';

describe('the image, built stage by stage in an empty folder', function () {
  this.timeout(300_000);

  let folder: TemporaryDirectory;
  let image: BuiltImage;

  before(async () => {
    folder = await TemporaryDirectory.create();
    image = await buildImage(join(folder.path, 'image'));
  });

  after(() => folder?.[Symbol.asyncDispose]());

  it('contains the bundle, the files of the pages and the license, but no package', async () => {
    expect(await readdir(image.root)).to.have.members(['app', 'licenses']);
    const files = Object.keys(await contentsOf(join(image.root, 'app')));
    expect(files).to.include('main.js');
    const beside = files.filter((file) => !/^[^/]+(\.js|LEGAL\.txt)$/.test(file));
    expect(beside).to.have.members(await pageFiles());
  });

  it('runs without the packages from which it was built', async () => {
    const main = join(image.root, 'app', 'main.js');
    const { stdout } = await promisify(execFile)(process.execPath, [main, '--version'], {
      cwd: folder.path,
      env: {},
    });
    expect(stdout).to.match(/^v\d+\.\d+\.\d+\n$/);
  });

  it('is identical byte for byte when it is built in another folder', async () => {
    const elsewhere = join(folder.path, 'elsewhere');
    await rename(join(folder.path, 'image', 'build', 'src'), elsewhere);
    await promisify(execFile)('npm', ['run', 'build'], { cwd: elsewhere });
    expect(await contentsOf(join(elsewhere, 'dist'))).to.deep.equal(
      await contentsOf(join(image.root, 'app')),
    );
  });
});

/** Files that /ui serves, by path in dist/. */
async function pageFiles(): Promise<readonly string[]> {
  const folders = ['lib/ui/page', 'lib/resource-metrics/page'];
  const files = await Promise.all(folders.map((folder) => readdir(folder)));
  return files.flat().map((file) => join('page', file));
}

async function contentsOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const contents = await Promise.all(
    paths.sort().map(async (path) => [relative(folder, path), await readFile(path, 'latin1')]),
  );
  return Object.fromEntries(contents);
}
