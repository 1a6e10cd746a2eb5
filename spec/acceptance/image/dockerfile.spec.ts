import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { kustomize, serverContainer } from '#spec/support/manifest-objects.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { parseDockerfile } from './dockerfile.ts';

describe('parseDockerfile', () => {
  it('reads stages and instructions over several lines, and omits comments', () => {
    const text = 'FROM a AS build\n# why\nRUN one \\\n    two\n\nFROM b:1\nUSER 1:1\n';
    expect(parseDockerfile(text)).to.deep.equal([
      { base: 'a', name: 'build', instructions: [{ keyword: 'RUN', argument: 'one two' }] },
      { base: 'b:1', name: '', instructions: [{ keyword: 'USER', argument: '1:1' }] },
    ]);
  });

  it('replaces arguments in base images by their defaults', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a Dockerfile names an argument
    const [stage] = parseDockerfile('ARG BASE=a:1\nFROM ${BASE} AS build\n');
    expect(stage).to.include({ base: 'a:1', name: 'build' });
  });
});

describe('the Dockerfile', () => {
  const stages = parseDockerfile(readFileSync('Dockerfile', 'utf8'));
  const final = stages.at(-1);
  const argumentsOf = (keyword: string) =>
    final?.instructions.flatMap((one) => (one.keyword === keyword ? [one.argument] : [])) ?? [];

  it('ends with a stage without a shell, which runs nothing and copies only the results of the build', () => {
    expect(final?.base).to.match(/\/distroless\/nodejs24-\S+:nonroot$/);
    expect(argumentsOf('RUN')).to.deep.equal([]);
    expect(argumentsOf('COPY')).to.deep.equal([
      'LICENSE /licenses/LICENSE',
      `--from=${stages[0]?.name} /src/dist /app`,
    ]);
  });

  it('has the user of the manifests', async () => {
    const { runAsUser, runAsGroup } = serverContainer(
      await kustomize('manifests/overlays/release'),
    ).securityContext;
    expect(argumentsOf('USER')).to.deep.equal([`${runAsUser}:${runAsGroup}`]);
  });

  it('has OCI labels for title, version and license', () => {
    const labels = Object.fromEntries(
      [
        ...argumentsOf('LABEL')
          .join(' ')
          .matchAll(/org\.opencontainers\.image\.(\S+?)="([^"]*)"/g),
      ].map(([, name, value]) => [name, value]),
    );
    expect(labels).to.include({ version: packageJson.version, licenses: packageJson.license });
    expect(labels).to.include.keys('title', 'description');
  });
});
