import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

describe('simulate', () => {
  const simulate = (...flags: string[]) =>
    new SpawnedProgram(process.execPath, ['simulator/main.ts', ...flags], { name: 'simulate' });
  const anyPorts = ['--port', '0', '--kubelet-port', '0'];

  it('prints one line when it is ready, and ends at SIGTERM', async () => {
    await using directory = await TemporaryDirectory.create();
    const kubeconfig = join(directory.path, 'kubeconfig');
    const scenario = await directory.write('scenario.yaml', 'nodes: 7\npodsPerNode: 2\n');
    await using program = simulate(
      ...anyPorts,
      '--nodes',
      '2',
      '--scenario',
      scenario,
      '--kubeconfig',
      kubeconfig,
    );
    const line = await program.line(/ is ready /, 50_000);
    expect(line).to.match(
      /^Simulated cluster is ready at https:\/\/127\.0\.0\.1:\d+: 2 nodes, 4 pods, kubelets on port \d+$/,
    );
    expect((await stat(kubeconfig)).mode & 0o777).to.equal(0o600);
    const { clusters } = JSON.parse(await readFile(kubeconfig, 'utf8'));
    expect(line).to.include(clusters[0].cluster.server);
    program.kill('SIGTERM');
    expect(await program.ended).to.deep.equal({ status: 0, signal: null });
    expect(program.output).to.have.length(1);
  });

  it('rejects unknown arguments with one line', async () => {
    await using program = simulate('--colour=blue');
    expect(await program.ended).to.deep.equal({ status: 1, signal: null });
    expect(program.output).to.deep.equal(["Cannot start: Unknown option '--colour'"]);
  });

  it('prints one line when it cannot start', async () => {
    for (const [flags, line] of [
      [['--scenario', '/nowhere.yaml'], /^Cannot read scenario \/nowhere\.yaml: no such file or directory$/],
      [
        ['--nodes', '0', '--kubeconfig', '/no/where'],
        /^Cannot write \/no\/where: .*no such file or directory/,
      ],
    ] as const) {
      await using program = simulate(...anyPorts, ...flags);
      expect(await program.ended).to.deep.equal({ status: 1, signal: null });
      expect(program.output).to.have.length(1);
      expect(program.output[0]).to.match(line);
    }
  });

  it('explains how to use free ports when its own are in use', async () => {
    await using first = simulate(...anyPorts, '--nodes', '1');
    const line = await first.line(/ is ready /, 50_000);
    const [, port = '', kubeletPort = ''] = /:(\d+): .* port (\d+)$/.exec(line) ?? [];
    for (const [flags, taken] of [
      [['--port', port, '--kubelet-port', '0'], `Cannot serve the API at 127.0.0.1:${port}: `],
      [['--port', '0', '--kubelet-port', kubeletPort], 'Cannot start the kubelet of node "node-1" at '],
    ] as const) {
      await using second = simulate(...flags, '--nodes', '1');
      expect(await second.ended).to.deep.equal({ status: 1, signal: null });
      expect(second.output).to.have.length(1);
      expect(second.output[0])
        .to.include(taken)
        .and.to.match(
          /address already in use; --port 0 --kubelet-port 0 uses free ports, .* --kubelet-use-node-status-port$/,
        );
    }
  });

  it('explains itself', async () => {
    await using program = simulate('--help');
    expect(await program.ended).to.deep.equal({ status: 0, signal: null });
    expect(program.output.join('\n')).to.include('--pods-per-node N');
  });
});
