import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { formatAutoscalerFlagTables } from '#lib/autoscaler/options/autoscaler-options.ts';
import { formatFlagTables } from '#lib/resource-metrics/options.ts';
import { everyTrigger } from '#spec/support/every-trigger.ts';
import { shownSeries } from '#spec/support/shown-series.ts';
import { formatSeriesTable } from '../scripts/format-series-table.ts';
import { formatTriggerTables } from '../scripts/format-trigger-tables.ts';
import { formatValuesTable } from '../scripts/format-values-table.ts';

const PAGES = [
  ...['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'examples/README.md'],
  ...globSync('docs/**/*.md'),
];

describe('README.md', () => {
  const readme = readFileSync('README.md', 'utf8');

  it('is read in a minute', () => {
    expect(readme.split('\n')).to.have.length.at.most(121); // 120 lines and what follows the last newline
  });

  it('speaks of no make target that does not exist', () => {
    const targets = new Set(readFileSync('Makefile', 'utf8').match(/^[a-z-]+(?=:)/gm));
    const mentioned = [...readme.matchAll(/(?:`|\$ )make ([a-z-]+)/g)].map(([, target = '']) => target);
    expect(mentioned).to.include.members(['demo', 'test', 'acceptance']);
    expect(mentioned.filter((target) => !targets.has(target))).to.deep.equal([]);
  });
});

describe('pages that must stay short', () => {
  for (const [page, maxLines] of [
    ['docs/contributing/benchmarks.md', 150],
    ['docs/contributing/testing.md', 120],
    ...globSync('docs/tasks/*.md').map((task) => [task, 110] as const), // two screens
  ] as const) {
    it(`${page} has at most ${maxLines} lines`, () => {
      expect(readFileSync(page, 'utf8').split('\n')).to.have.length.at.most(maxLines + 1);
    });
  }
});

describe('the pages of the documentation', () => {
  const links = PAGES.flatMap((page) =>
    linksOf(readFileSync(page, 'utf8')).map((link) => ({ page, path: '', ...link })),
  );

  it('link to no file that does not exist', () => {
    expect(links).to.deep.include({ page: 'README.md', path: 'docs/contributing/architecture.md' });
    const broken = links.filter(({ page, path }) => !existsSync(join(dirname(page), path)));
    expect(broken).to.deep.equal([]);
  });

  it('link to no heading that does not exist', () => {
    expect(links).to.deep.include({
      page: 'docs/contributing/architecture.md',
      path: 'testing.md',
      heading: 'kinds-of-specs',
    });
    const broken = links.filter(
      ({ page, path, heading }) =>
        heading && !headingsOf(readFileSync(path ? join(dirname(page), path) : page, 'utf8')).has(heading),
    );
    expect(broken).to.deep.equal([]);
  });

  it('are checked by links that are found in any context', () => {
    expect(linksOf('[a](b.md) and [c](d/e.md#f), [g](https://h.example/i), [j](#k)')).to.deep.equal([
      { path: 'b.md' },
      { path: 'd/e.md', heading: 'f' },
      { heading: 'k' },
    ]);
    const page = "# A\n\n## What it's for: `b` and [c](d.md)\n\n```\n# none\n```\n\n## A\n";
    expect([...headingsOf(page)]).to.deep.equal(['a', 'what-its-for-b-and-c', 'a-1']);
  });
});

describe('docs/contributing/architecture.md', () => {
  const page = readFileSync('docs/contributing/architecture.md', 'utf8');

  it('names no file that does not exist, by paths in `lib/` or in the repository', () => {
    const paths = [...page.matchAll(/`([\w-]+\/[\w/-]+\.ts)`/g)].map(([, path = '']) => path);
    expect(paths).to.include('resource-metrics/pipeline.ts');
    expect(paths.filter((path) => !existsSync(join('lib', path)) && !existsSync(path))).to.deep.equal([]);
  });

  it('leads through no file that does not exist', () => {
    const [, ways = ''] = page.split('## Six ways through the code');
    const blocks = [...ways.matchAll(/^(.*):\n\n((?: {4}.*\n)+)/gm)];
    let folder = '';
    const missing = blocks.flatMap(([, title = '', block = '']) => {
      folder = /, in `([\w-]+)\/`$/.exec(title)?.[1] ?? (title.startsWith('A ') ? '' : folder);
      const paths = [...block.matchAll(/^ +([\w/-]+\.ts)/gm)].map(([, path = '']) => path);
      return paths.filter((path) => !existsSync(join('lib', folder, path)) && !existsSync(join('lib', path)));
    });
    expect(blocks).to.have.length.above(6);
    expect(missing).to.deep.equal([]);
  });

  it('gives whole paths where it is read to find a file', () => {
    const [, section = ''] = page.split('## Where is what');
    expect(section.match(/`[\w-]+\/[\w/-]+\.ts`/g)).to.have.length.above(30);
    expect(section.match(/`[\w-]+\.ts`/g)).to.equal(null);
  });

  it('describes each folder inside the larger ones', () => {
    const [, section = ''] = page.split('### Inside the larger folders');
    const tables = [...section.matchAll(/^`([\w-]+)\/`[^\n]*\n\n((?:\|.*\n)+)/gm)];
    const described = new Map(
      tables.map(([, folder = '', table = '']) => [
        folder,
        [...table.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = '']) => foldersIn(cell)).sort(),
      ]),
    );
    const present = (folder: string) => {
      const root = folder === 'simulator' ? folder : `lib/${folder}`;
      return readdirSync(root, { withFileTypes: true })
        .flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
        .sort();
    };
    expect([...described.keys()]).to.include.members([
      'resource-metrics',
      'hpa',
      'scaled-objects',
      'simulator',
    ]);
    for (const [folder, names] of described)
      if (folder !== 'sources') expect(names, folder).to.deep.equal(present(folder)); // one for each system
  });
});

describe('docs/reference/flags.md', () => {
  it('has the flags as they are (make update writes them)', () => {
    const page = readFileSync('docs/reference/flags.md', 'utf8');
    expect(page).to.include(formatFlagTables());
    expect(page).to.include(formatAutoscalerFlagTables());
  });
});

describe('docs/reference/triggers.md', () => {
  it('has the parameters of triggers as they are (make update writes them)', () => {
    expect(readFileSync('docs/reference/triggers.md', 'utf8')).to.include(
      formatTriggerTables(everyTrigger()),
    );
  });
});

describe('docs/reference/values.md', () => {
  it('has the values of both charts as they are (make update writes them)', () => {
    const page = readFileSync('docs/reference/values.md', 'utf8');
    for (const chart of ['metrics-server', 'autoscaler']) expect(page).to.include(formatValuesTable(chart));
  });
});

describe('docs/reference/series.md', () => {
  it('has the series of both programs as they are (make update writes them)', async () => {
    const page = readFileSync('docs/reference/series.md', 'utf8');
    const { metricsServer, autoscaler } = await shownSeries();
    expect(page).to.include(formatSeriesTable(metricsServer));
    expect(page).to.include(formatSeriesTable(autoscaler));
  });
});

describe('docs/tasks/migrate-from-keda.md', () => {
  it('lists the triggers that there are, and as missing none of them', () => {
    const page = readFileSync('docs/tasks/migrate-from-keda.md', 'utf8').replaceAll(/\s+/g, ' ');
    const listAfter = (words: string) => {
      const [, text = ''] = page.split(words);
      return [...(text.split('. ')[0] ?? '').matchAll(/`([\w-]+)`/g)].map(([, type]) => type);
    };
    const types = everyTrigger().flatMap((trigger) => trigger.types);
    expect(listAfter('[Supported](../reference/triggers.md): ')).to.have.members(types);
    const missing = listAfter('Not supported, of KEDA 2.20: ');
    expect(missing).to.include('kafka');
    expect(missing.filter((type = '') => types.includes(type))).to.deep.equal([]);
    const readme = readFileSync('README.md', 'utf8');
    const [, named = ''] = /that are missing<\/summary>([^.]*)\./.exec(readme) ?? [];
    expect([...named.matchAll(/`([\w-]+)`/g)].map(([, type]) => type)).to.deep.equal(missing);
    expect(readme).to.include(`${missing.length} triggers, `);
  });
});

describe('docs/contributing/dependencies.md', () => {
  it('names every dependency and nothing that is none', () => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
      'dependencies' | 'devDependencies',
      Readonly<Record<string, string>>
    >;
    const rows = readFileSync('docs/contributing/dependencies.md', 'utf8').match(/^\| `.*?` \|/gm) ?? [];
    const named = rows.flatMap((row) => [...row.matchAll(/`(.+?)`/g)].map(([, name]) => name));
    expect(named).to.have.members([...Object.keys(dependencies), ...Object.keys(devDependencies)]);
  });
});

/** Finds names of folders in a table cell. */
function foldersIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([\w-]+)\/`/g)].map(([, name = '']) => name);
}

interface Link {
  /** In this repository; absent for the page itself. */
  readonly path?: string;
  readonly heading?: string;
}

/** Finds links within the repository. */
function linksOf(page: string): Link[] {
  return [...page.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)].map(([, path, heading]) => ({
    ...(path && { path }),
    ...(heading && { heading }),
  }));
}

/** Returns the anchors of a page's headings, as GitHub creates them: lower case, with hyphens, numbered if repeated. */
function headingsOf(page: string): ReadonlySet<string> {
  const headings = new Set<string>();
  const text = page.replace(/^```[\s\S]*?^```/gm, '');
  for (const [, heading = ''] of text.matchAll(/^#{1,6} (.+)$/gm)) {
    const words = heading
      .trim()
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
    const name = words.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
    for (let count = 0; ; count++) {
      const numbered = count === 0 ? name : `${name}-${count}`;
      if (headings.has(numbered)) continue;
      headings.add(numbered);
      break;
    }
  }
  return headings;
}
