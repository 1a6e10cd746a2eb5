import { expect } from 'chai';
import { requireProgram } from '#spec/support/machine-programs.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';
import { findBinaries, makeBinaries } from './find-binaries.ts';

describe('findBinaries', () => {
  let folder: TemporaryDirectory;

  beforeEach(async () => {
    folder = await TemporaryDirectory.create();
  });

  afterEach(() => folder[Symbol.asyncDispose]());

  const put = async (...names: readonly string[]) => {
    for (const name of names) await folder.write(name, '#!/bin/sh\n', { mode: 0o755 });
  };

  it('takes what lies in the folder that KUBEBUILDER_ASSETS names, and says so', async () => {
    await put('etcd', 'kube-apiserver', 'kube-controller-manager');
    expect(await findBinaries(folder.path, '/nonexistent')).to.deep.equal({
      etcd: `${folder.path}/etcd`,
      apiServer: `${folder.path}/kube-apiserver`,
      controllerManager: `${folder.path}/kube-controller-manager`,
      origin: 'taken from KUBEBUILDER_ASSETS',
    });
  });

  it('can do without a controller manager, which the usual sets lack', async () => {
    await put('etcd', 'kube-apiserver', 'kubectl');
    expect(await findBinaries(folder.path)).to.have.property('controllerManager', undefined);
  });

  it('takes no other where that folder has none', async () => {
    await put('etcd');
    const failure = await messageOf(findBinaries(folder.path, folder.path));
    expect(failure).to.equal(
      `Cannot find etcd and kube-apiserver in ${folder.path}, which KUBEBUILDER_ASSETS names`,
    );
  });

  it('takes those made before where no folder is named', async () => {
    expect(await findBinaries('', folder.path)).to.equal(undefined);
    await put('etcd', 'kube-apiserver', 'kube-controller-manager');
    expect(await findBinaries('', folder.path)).to.have.property(
      'origin',
      "built from Debian's source package",
    );
  });

  it('does not take for a program what cannot be run', async () => {
    await put('etcd');
    await folder.write('kube-apiserver', '', { mode: 0o644 });
    expect(await findBinaries('', folder.path)).to.equal(undefined);
  });
});

describe('makeBinaries', () => {
  let folder: TemporaryDirectory;

  beforeEach(async () => {
    folder = await TemporaryDirectory.create();
  });

  afterEach(() => folder[Symbol.asyncDispose]());

  const make = async (script: string, timeoutMs: number) => {
    const reported: string[] = [];
    const maker = await folder.write('maker', `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const report = (line: string) => reported.push(line);
    const outcome = await makeBinaries({ timeoutMs, report }, { cacheFolder: folder.path, maker }).catch(
      (error: Error) => error.message,
    );
    return { reported, outcome };
  };

  it('hands over what was made', async () => {
    const script =
      'for name in etcd kube-apiserver; do echo >"$1/$name"; chmod +x "$1/$name"; done; echo made';
    const { reported, outcome } = await make(script, 30_000);
    expect(reported).to.deep.equal(['made']);
    expect(outcome).to.have.property('apiServer', `${folder.path}/kube-apiserver`);
  });

  it('reports why there is none, with the error of the attempt', async () => {
    expect(await make("echo 'no apt source' >&2; exit 1", 30_000)).to.deep.equal({
      reported: ['no apt source'],
      outcome: 'Cannot make a control plane: see above',
    });
  });

  it('says that the time was too short, however the maker ends then', async () => {
    const { outcome } = await make("trap 'exit 1' TERM; while :; do sleep 0.01; done", 50);
    expect(outcome).to.equal('Cannot make a control plane: not within 0.05 s');
  });

  it('does not believe a maker that made nothing', async () => {
    expect(await make('exit 0', 30_000)).to.have.property(
      'outcome',
      'Cannot make a control plane: see above',
    );
  });

  it('waits for another that makes the same, and has what that made', async function () {
    await requireProgram(this, 'flock');
    // Holds the lock of the real script, as a concurrent run would; builds nothing itself.
    const other = `exec 9>"$1/.lock"; flock 9; echo locked; read -r line <"$1/go"`;
    const script = `mkfifo "$1/go"; (${other}; for name in kube-controller-manager etcd kube-apiserver; do
      echo >"$1/$name"; chmod +x "$1/$name"; done) & until [ -e "$1/.lock" ] && ! flock -n "$1/.lock" true; do :; done
      (echo go >"$1/go") & exec "${REAL_MAKER}" "$1"`;
    const { reported, outcome } = await make(script, 8_000);
    expect(reported).to.deep.equal(['locked', 'Made by another run']);
    expect(outcome).to.have.property('origin', "built from Debian's source package");
  });
});

const REAL_MAKER = new URL('make-binaries.sh', import.meta.url).pathname;

async function messageOf(refused: Promise<unknown>): Promise<string> {
  return await refused.then(
    () => 'it was found',
    (error: Error) => error.message,
  );
}
