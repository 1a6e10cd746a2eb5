import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { formatFlagTables } from '#lib/resource-metrics/options.ts';

describe('README.md', () => {
  const readme = readFileSync('README.md', 'utf8');

  it('has the flags as they are (make update writes them)', () => {
    expect(readme).to.include(formatFlagTables());
  });

  it('speaks of no make target that does not exist', () => {
    const targets = new Set(readFileSync('Makefile', 'utf8').match(/^[a-z]+(?=:)/gm));
    const mentioned = [...readme.matchAll(/(?:`|\$ )make ([a-z]+)/g)].map(([, target = '']) => target);
    expect(mentioned.filter((target) => !targets.has(target))).to.deep.equal([]);
  });

  it('links to no file that does not exist', () => {
    const linked = [...readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, path = '']) => path);
    for (const path of linked) expect(() => readFileSync(path), path).to.not.throw();
  });
});

describe('docs/dependencies.md', () => {
  it('names every dependency and nothing that is none', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
      'dependencies' | 'devDependencies',
      Readonly<Record<string, string>>
    >;
    const rows = readFileSync('docs/dependencies.md', 'utf8').match(/^\| `.*?` \|/gm) ?? [];
    const named = rows.flatMap((row) => [...row.matchAll(/`(.+?)`/g)].map(([, name]) => name));
    expect(named).to.have.members([...Object.keys(dependencies), ...Object.keys(devDependencies)]);
  });
});
