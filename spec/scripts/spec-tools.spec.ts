import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { requireProgram } from '#spec/support/machine-programs.ts';
import { type ProgramRun, runToEnd } from '#spec/support/run-to-end.ts';
import type { TemporaryDirectory } from '#spec/support/temporary-directory.ts';
import { machineWithoutTools, program } from './machine-without-tools.ts';

const SCRIPT = resolve('scripts/spec-tools.sh');

describe('spec-tools.sh', () => {
  it('installs nothing if all tools exist', async () => {
    await using machine = await machineWithoutTools();
    await program(machine, 'apt-get', `echo "$@" >>${machine.path}/called`);
    await program(machine, 'promtool', 'exit 0');
    await program(machine, 'chromium', 'exit 0');
    const run = await getTools(machine.path);
    expect(run).to.deep.include({ exitStatus: 0, stdout: '' });
    expect(await readFile(join(machine.path, 'called'), 'utf8').catch(() => 'never')).to.equal('never');
  });

  it('lists the skipped specs, and succeeds, if apt is unavailable', async () => {
    await using machine = await machineWithoutTools();
    await program(machine, 'apt-get', 'echo "E: the network is down" >&2; exit 100');
    const { exitStatus, stdout } = await getTools(machine.path);
    expect(exitStatus).to.equal(0);
    expect(stdout).to.include('SKIPPED: the specs that need promtool').and.include('E: the network is down');
    expect(stdout).to.include('SKIPPED: the specs that need Chromium');
  });

  it('unpacks promtool alone, and installs Chromium while no package may start a server', async function () {
    const packer = await requireProgram(this, 'dpkg-deb');
    await using machine = await machineWithoutTools();
    await makePackage(machine, packer);
    await program(machine, 'id', 'echo 0');
    await program(
      machine,
      'apt-get',
      `case "$*" in
         *download*) cp ${machine.path}/prometheus.deb prometheus_1_all.deb;;
         *chromium*) cp $POLICY_FILE ${machine.path}/policy-meanwhile; cp ${machine.path}/id $CHROMIUM;;
       esac`,
    );
    const { exitStatus, stdout } = await getTools(machine.path);
    expect(exitStatus).to.equal(0);
    expect(stdout).to.equal(`Installed promtool in ${machine.path}/tools\nInstalled Chromium\n`);
    expect(await readFile(join(machine.path, 'policy-meanwhile'), 'utf8')).to.include('exit 101');
    expect(await readFile(join(machine.path, 'policy-rc.d'), 'utf8').catch(() => 'gone')).to.equal('gone');
    expect(await runToEnd(join(machine.path, 'tools/promtool'), ['--version'], 10_000)).to.include({
      exitStatus: 0,
    });
  });
});

function getTools(folder: string): Promise<ProgramRun> {
  const settings = {
    PATH: folder,
    TOOLS_FOLDER: join(folder, 'tools'),
    CHROMIUM: join(folder, 'chromium'),
    POLICY_FILE: join(folder, 'policy-rc.d'),
  };
  const assignments = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  return runToEnd('env', [...assignments, SCRIPT], 60_000);
}

/** Builds a Debian package with a promtool. */
async function makePackage(machine: TemporaryDirectory, packer: string): Promise<void> {
  await mkdir(join(machine.path, 'package/DEBIAN'), { recursive: true });
  await mkdir(join(machine.path, 'package/usr/bin'), { recursive: true });
  await machine.write(
    'package/DEBIAN/control',
    'Package: prometheus\nVersion: 1\nArchitecture: all\nMaintainer: a <a@example.com>\nDescription: a\n',
  );
  await program(machine, 'package/usr/bin/promtool', 'exit 0');
  const root = join(machine.path, 'package');
  await runToEnd(packer, ['--build', root, join(machine.path, 'prometheus.deb')], 30_000);
}
