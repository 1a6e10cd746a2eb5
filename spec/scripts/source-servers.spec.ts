import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { type ProgramRun, runToEnd } from '#spec/support/run-to-end.ts';
import { machineWithoutTools, program } from './machine-without-tools.ts';

const SCRIPT = resolve('scripts/source-servers.sh');
const SERVERS = ['prometheus', 'mariadbd', 'nats-server', 'redis-server', 'rabbitmq-server', 'postgres'];

describe('source-servers.sh', () => {
  it('installs nothing if all servers exist', async () => {
    await using machine = await machineWithoutTools();
    await program(machine, 'apt-get', `echo "$@" >>${machine.path}/called`);
    for (const server of SERVERS) await program(machine, server, 'exit 0');
    expect(await getServers(machine.path)).to.deep.include({ exitStatus: 0, stdout: '' });
    expect(await readFile(join(machine.path, 'called'), 'utf8').catch(() => 'never')).to.equal('never');
  });

  it('lists the skipped specs, and succeeds, when another user than root runs it', async () => {
    await using machine = await machineWithoutTools();
    await program(machine, 'apt-get', 'exit 0');
    await program(machine, 'id', 'echo 1000');
    for (const server of SERVERS.slice(1)) await program(machine, server, 'exit 0');
    const { exitStatus, stdout } = await getServers(machine.path);
    expect(exitStatus).to.equal(0);
    expect(stdout).to.equal(
      'SKIPPED: the specs that need Prometheus, which is missing: only root may install it\n',
    );
  });

  it('installs missing packages without starting servers, now or later', async () => {
    await using machine = await machineWithoutTools();
    await program(machine, 'id', 'echo 0');
    await program(machine, 'apt-get', `echo "$@" >>${machine.path}/called; test -e "$POLICY_FILE"`);
    await program(machine, 'systemctl', `echo systemctl "$@" >>${machine.path}/called`);
    const { stdout } = await getServers(machine.path);
    expect(stdout.trim().split('\n')).to.deep.equal(
      ['Prometheus', 'MariaDB', 'NATS', 'Redis', 'RabbitMQ', 'PostgreSQL'].map((name) => `Installed ${name}`),
    );
    const called = (await readFile(join(machine.path, 'called'), 'utf8')).trim().split('\n');
    expect(called.map((line) => line.split(' ').slice(-2).join(' '))).to.deep.equal([
      '--no-install-recommends prometheus',
      'disable prometheus',
      '--no-install-recommends mariadb-server',
      'disable mariadb',
      '--no-install-recommends nats-server',
      'disable nats-server',
      '--no-install-recommends redis-server',
      'disable redis-server',
      '--no-install-recommends rabbitmq-server',
      'disable rabbitmq-server',
      '--no-install-recommends postgresql',
      'disable postgresql',
    ]);
  });
});

function getServers(folder: string): Promise<ProgramRun> {
  const settings = {
    PATH: folder,
    POLICY_FILE: join(folder, 'policy-rc.d'),
    POSTGRES_FOLDER: join(folder, 'postgresql'),
    RABBITMQ_FOLDER: folder,
    SERVER_FOLDERS: folder,
  };
  const assignments = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  return runToEnd('env', [...assignments, SCRIPT], 60_000);
}
