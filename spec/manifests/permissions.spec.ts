import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { allManifestPermissions } from '#spec/acceptance/permissions/recorded-requests.ts';

describe('the table of permissions in docs/reference/permissions.md', () => {
  it('lists exactly the permissions that the manifests grant to a program, with their purpose', async () => {
    const granted = (await allManifestPermissions()).map(({ role, verb, resource, name = '' }) =>
      `${role}: ${verb} ${resource} ${name}`.trim(),
    );
    const rows = await tableOfPermissions();
    const documented = rows.flatMap(({ role, resources, names, verbs }) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) => names.map((name) => `${role}: ${verb} ${resource} ${name}`.trim())),
      ),
    );
    expect([...new Set(documented)].sort()).to.deep.equal([...new Set(granted)].sort());
    expect(documented.length).to.equal(new Set(documented).size);
    for (const { uses, harm, role } of rows) expect([uses, harm], role).to.not.include('');
  });
});

async function tableOfPermissions() {
  const [, section = ''] = (await readFile('docs/reference/permissions.md', 'utf8')).split('\n## Roles\n');
  const [table = ''] = section.split('\n### ');
  return table
    .split('\n')
    .filter((line) => /^\| `/.test(line))
    .map((line) => {
      const [, role = '', of = '', verbs = '', uses = '', harm = ''] = line
        .split('|')
        .map((cell) => cell.trim());
      const [resources = '', names] = of.split(' named ');
      return {
        ...{ role: role.replaceAll('`', ''), resources: quoted(resources), verbs: verbs.split(', ') },
        ...{ names: names === undefined ? [''] : quoted(names), uses, harm },
      };
    });
}

function quoted(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
}
