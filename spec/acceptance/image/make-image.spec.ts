import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';

describe('make image', () => {
  /** Command line that an engine receives, captured with a stub engine. */
  async function commandLine(env: NodeJS.ProcessEnv): Promise<string> {
    await using folder = await TemporaryDirectory.create();
    await folder.write('docker', '#!/bin/sh\n[ "$1" = info ] || echo "$@ of $SOURCE_DATE_EPOCH"\n', {
      mode: 0o755,
    });
    const { stdout } = await promisify(execFile)('scripts/image.sh', [], {
      env: { PATH: `${folder.path}:${process.env.PATH}`, SOURCE_DATE_EPOCH: '7', ...env },
    });
    return stdout.split('\n')[0] ?? '';
  }

  it('builds on the bases of the Dockerfile, with the given date', async () => {
    expect(await commandLine({})).to.equal('build --tag metrics-server:dev . of 7');
  });

  it('builds on other base images if they are set', async () => {
    const env = { IMAGE: 'registry.example/a:1', BUILD_BASE: 'node@sha256:1', RUNTIME_BASE: 'base@sha256:2' };
    expect(await commandLine(env)).to.equal(
      'build --tag registry.example/a:1 --build-arg BUILD_BASE=node@sha256:1 --build-arg RUNTIME_BASE=base@sha256:2 . of 7',
    );
  });
});
