import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'chai';
import { parseSourceFile, readSourceFiles, type SourceFile } from '#spec/support/source-file.ts';

// Permitted imports between folders of lib/. Rules for packages and Node's own modules are further down.
const SHARED = ['flags', 'kubernetes', 'telemetry', 'cache', 'concurrency', 'time'];
/** Folders that each subsystem of the autoscaler may import; subsystems never import one another. */
const SUBSYSTEM = [
  ...SHARED,
  'dns',
  'apiserver',
  'control',
  'collection',
  'sources',
  'schedule',
  'doctor',
  'ui',
];
const SUBSYSTEMS = ['metrics-adapter', 'scaled-objects', 'hpa', 'cron-hpa'];
const FOLDER_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  time: [],
  cache: ['time'],
  concurrency: ['telemetry', 'time'],
  dns: ['cache', 'concurrency', 'time'],
  telemetry: ['time'],
  flags: ['telemetry', 'time'],
  kubernetes: ['telemetry', 'concurrency', 'cache', 'time'],
  apiserver: SHARED,
  control: [...SHARED, 'apiserver', 'ui'],
  schedule: ['cache', 'time'],
  doctor: SHARED,
  ui: [...SHARED, 'apiserver'],
  sources: SHARED,
  collection: [...SHARED, 'sources'],
  ...Object.fromEntries(SUBSYSTEMS.map((subsystem) => [subsystem, SUBSYSTEM])),
  autoscaler: [...SUBSYSTEM, ...SUBSYSTEMS],
  'resource-metrics': [...SHARED, 'dns', 'apiserver', 'doctor', 'ui'],
  'prometheus-operator': SHARED,
  simulator: ['telemetry', 'time'],
  '.': [...SHARED, 'apiserver', 'resource-metrics', 'autoscaler', 'prometheus-operator'],
};

// Inside the resource metrics server: the stages of its pipeline, and the files that join them.
const STAGE_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  'metrics-batch.ts': [],
  nodes: [],
  scrape: ['metrics-batch.ts', 'nodes'],
  sink: ['metrics-batch.ts'],
  api: ['sink', 'nodes'],
  debug: ['nodes', 'scrape', 'sink', 'api'],
  doctor: ['metrics-batch.ts', 'nodes', 'scrape', 'options.ts'],
  'ui-endpoints.ts': [],
  'flags.ts': [],
  'options.ts': ['flags.ts'],
  'manager.ts': ['metrics-batch.ts'],
  'pipeline-observers.ts': ['scrape', 'manager.ts'],
  'pipeline-series.ts': ['scrape', 'sink', 'manager.ts', 'pipeline-observers.ts'],
  'pipeline.ts': [
    ...['nodes', 'metrics-batch.ts', 'scrape', 'sink', 'debug'],
    ...['options.ts', 'manager.ts', 'pipeline-series.ts', 'pipeline-observers.ts'],
  ],
  'metrics-server.ts': ['api', 'debug', 'ui-endpoints.ts', 'options.ts', 'pipeline.ts'],
};

// Inside the API server, from the bottom up: what each folder may import. The files beside them combine the folders.
const APISERVER_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  encoding: [],
  http: ['encoding'],
  resources: ['encoding', 'http'],
  serving: ['encoding', 'http'],
  access: ['http'],
  discovery: ['encoding', 'http', 'resources'],
  'health.ts': ['http'],
  'debug-endpoint.ts': ['http'],
  middleware: ['encoding', 'http', 'serving', 'access', 'health.ts'],
  'routes.ts': ['encoding', 'http', 'resources', 'discovery'],
  'server-options.ts': ['serving', 'access', 'middleware'],
  'api-server.ts': [
    ...['http', 'resources', 'serving', 'access', 'discovery', 'middleware'],
    ...['health.ts', 'routes.ts'],
  ],
  'subsystems.ts': [
    ...['http', 'resources', 'serving', 'access', 'discovery'],
    ...['health.ts', 'server-options.ts', 'api-server.ts'],
  ],
};

/** Specs that compare constants in two places, such as a manifest and the code. */
const CONSTANTS_COMPARED = new Set(['spec/manifests/autoscaler.spec.ts']);

describe('the specs', () => {
  it('write out the expected numbers and texts of lib/, since an imported one is never wrong', () => {
    const specs = globSync('spec/**/*.ts').filter((path) => !CONSTANTS_COMPARED.has(path));
    expect(specs.flatMap((path) => constantsImportedBy(path, readFileSync(path, 'utf8')))).to.deep.equal([]);
    const resource =
      "import { METRICS_GROUP, podMetrics } from '#lib/resource-metrics/api/metrics-types.ts';";
    expect(constantsImportedBy('a', resource)).to.deep.equal(['a: METRICS_GROUP']);
  });

  it('have at least the time that the runner gives them, however fast they are here', () => {
    const { timeout } = JSON.parse(readFileSync('.mocharc.json', 'utf8'));
    const hurried = (text: string) =>
      [...text.matchAll(/(?<!AbortSignal)\.timeout\(([\d_]+)\)/g)].some(
        ([, ms = '']) => Number(ms.replaceAll('_', '')) < timeout,
      );
    const specs = globSync('spec/**/*.spec.ts').filter((path) => hurried(readFileSync(path, 'utf8')));
    expect(specs).to.deep.equal([]);
    expect([hurried(`this.timeout(${5})`), hurried('AbortSignal.timeout(5)')]).to.deep.equal([true, false]);
  });
});

describe('the folders of lib/ and simulator/', () => {
  const sources = [...readSourceFiles('lib'), ...readSourceFiles('simulator')];

  it('are all in the import table', () => {
    const folders = sources.map(({ path }) => folderOf(path));
    expect(folders.filter((folder) => !(folder in FOLDER_MAY_IMPORT))).to.deep.equal([]);
    const stages = sources.map(({ path }) => stageOf(path)).filter((stage) => stage !== undefined);
    expect(stages.filter((stage) => !(stage in STAGE_MAY_IMPORT))).to.deep.equal([]);
    const parts = sources
      .map(({ path }) => partOf(path, 'lib/apiserver'))
      .filter((part) => part !== undefined);
    expect([...new Set(parts)].sort()).to.deep.equal(Object.keys(APISERVER_MAY_IMPORT).sort());
  });

  it('are described with their permitted imports by docs/contributing/architecture.md, from top to bottom', () => {
    const [, section = ''] = readFileSync('docs/contributing/architecture.md', 'utf8').split('## Folders');
    const rows = [...section.matchAll(/^\| `(?:([\w-]+)\/|lib\/\*\.ts)` \|.*\| (.*) \|$/gm)];
    const described = rows.map(([, folder = '.', cell = '']) => ({ folder, imports: importsIn(cell) }));
    const sorted = (imports: Iterable<string>) => [...new Set(imports)].sort();
    expect(
      Object.fromEntries(described.map(({ folder, imports }) => [folder, sorted(imports)])),
    ).to.deep.equal(
      Object.fromEntries(
        Object.entries(FOLDER_MAY_IMPORT).map(([folder, imports]) => [folder, sorted(imports)]),
      ),
    );
    const order = described.map(({ folder }) => folder);
    const upwards = described.filter(({ folder, imports }) =>
      imports.some((one) => order.indexOf(one) <= order.indexOf(folder)),
    );
    expect(upwards).to.deep.equal([]);
  });

  it('keep the folders of apiserver in order', () => {
    const offences = offencesOf(sources, ({ path }, target) => {
      const [from, to] = [partOf(path, 'lib/apiserver'), partOf(target, 'lib/apiserver')];
      const isInside = from !== undefined && to !== undefined && from !== to;
      return !isInside || (APISERVER_MAY_IMPORT[from] ?? []).includes(to);
    });
    expect(offences).to.deep.equal([]);
  });

  it('import no file or folder that imports them, however deep they are and however long the way back', () => {
    const folders = new Set(sources.flatMap(({ path }) => foldersAbove(path)));
    const cycles = [...folders].flatMap((folder) => cyclesIn(folder, sources));
    expect(cycles).to.deep.equal([]);
  });

  it('import only what the table lets them', () => {
    const offences = offencesOf(sources, ({ path }, target) => {
      const [from, to] = [folderOf(path), folderOf(target)];
      return from === to || (FOLDER_MAY_IMPORT[from] ?? []).includes(to);
    });
    expect(offences).to.deep.equal([]);
  });

  it('keep the stages of resource-metrics in order', () => {
    const offences = offencesOf(sources, ({ path }, target) => {
      const [from, to] = [stageOf(path), stageOf(target)];
      return (
        from === undefined || from === to || to === undefined || (STAGE_MAY_IMPORT[from] ?? []).includes(to)
      );
    });
    expect(offences).to.deep.equal([]);
  });

  it('reach other folders by #lib/ and stay inside their own with relative paths', () => {
    const misspelt = sources.flatMap(({ path, specifiers }) =>
      specifiers
        .filter((specifier) => {
          const target = resolve(path, specifier);
          if (target === undefined) return false;
          if (specifier.startsWith('#')) return !specifier.startsWith('#lib/');
          return (
            folderOf(target) !== folderOf(path) || (specifier.startsWith('..') && stageOf(path) !== undefined)
          );
        })
        .map((specifier) => `${path}: ${specifier}`),
    );
    expect(misspelt).to.deep.equal([]);
  });

  it('leave metrics-batch.ts without any import at all', () => {
    const offenders = sources
      .filter(({ path }) => path === 'lib/resource-metrics/metrics-batch.ts')
      .filter(({ specifiers }) => specifiers.length > 0);
    expect(paths(offenders)).to.deep.equal([]);
  });

  it('leave @kubernetes/client-node to kubernetes/', () => {
    const importers = sources.filter(({ specifiers }) =>
      specifiers.some((specifier) => specifier.startsWith('@kubernetes/client-node')),
    );
    expect(paths(importers).filter((path) => !path.startsWith('lib/kubernetes/'))).to.deep.equal([]);
  });

  it('leave `process` to the main.ts files', () => {
    const readers = sources.filter(({ readsProcess }) => readsProcess);
    expect(paths(readers).filter((path) => basename(path) !== 'main.ts')).to.deep.equal([]);
  });

  it('make code of no text', () => {
    expect(paths(sources.filter(({ evaluatesText }) => evaluatesText))).to.deep.equal([]);
    const suspects = ["new Function('a')", 'eval("a")', 'globalThis.eval(a)', "import vm from 'node:vm';"];
    for (const text of suspects) expect(parseSourceFile('lib/a.ts', text).evaluatesText, text).to.equal(true);
  });

  it('import only packages that a production installation has', () => {
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      dependencies: Readonly<Record<string, string>>;
    };
    const missing = sources.flatMap(({ path, specifiers }) =>
      specifiers
        .filter((specifier) => !/^(\.|#|node:)/.test(specifier))
        .filter((specifier) => !(packageOf(specifier) in dependencies))
        .map((specifier) => `${path}: ${specifier}`),
    );
    expect(missing).to.deep.equal([]);
  });

  it('have no barrels and no drawers for odds and ends', () => {
    const odd = paths(sources).filter((path) =>
      /(^|\/)(index\.ts|(utils?|helpers?|common|misc)(\.ts|\/))/.test(path),
    );
    expect(odd).to.deep.equal([]);
  });
});

describe('cyclesIn', () => {
  const source = (path: string, text: string) => parseSourceFile(path, text);

  it('finds the way from a folder back to itself, through others and files beside them', () => {
    const sources = [
      source('lib/a/b/x.ts', "import '#lib/a/c.ts';"),
      source('lib/a/c.ts', "import './d/y.ts';"),
      source('lib/a/d/y.ts', "import '#lib/a/b/z.ts';"),
      source('lib/a/e.ts', "import './b/x.ts';"),
    ];
    expect(cyclesIn('lib/a', sources)).to.deep.equal(['lib/a: b', 'lib/a: c.ts', 'lib/a: d']);
  });

  it('finds files that import each other, in the folder that they lie in', () => {
    const sources = [
      source('lib/a/b/x.ts', "import './y.ts'; import '#lib/a/c.ts'; import '#lib/f/g.ts';"),
      source('lib/a/b/y.ts', "import type { X } from './x.ts';"),
      source('lib/f/g.ts', "import '#lib/a/b/x.ts';"),
    ];
    expect(cyclesIn('lib/a/b', sources)).to.deep.equal(['lib/a/b: x.ts', 'lib/a/b: y.ts']);
    expect(cyclesIn('lib/a', sources)).to.deep.equal([]);
  });

  it('passes over imports that lead one way', () => {
    const sources = [source('lib/a/x.ts', "import './y.ts'; import './b/z.ts';"), source('lib/a/y.ts', '')];
    expect(cyclesIn('lib/a', sources)).to.deep.equal([]);
  });
});

describe('parseSourceFile', () => {
  it('finds imports of values, of types, for their effect, dynamic ones and re-exports', () => {
    const { specifiers } = parseSourceFile(
      'lib/a.ts',
      [
        "import { a } from './a.ts';",
        "import type { B } from '#lib/b/b.ts';",
        'import {',
        '  c,',
        '  type D,',
        "} from 'c';",
        "import 'effect';",
        "export { e } from './e.ts';",
        "export * from './f.ts';",
        "const g = await import('./g.ts');",
        "type H = import('./h.ts').H;",
      ].join('\n'),
    );
    expect([...specifiers].sort()).to.deep.equal(
      ['#lib/b/b.ts', './a.ts', './e.ts', './f.ts', './g.ts', './h.ts', 'c', 'effect'].sort(),
    );
  });

  it('ignores imports in comments, and keeps addresses in strings whole', () => {
    const { specifiers } = parseSourceFile(
      'lib/a.ts',
      [
        "// import { a } from './a.ts';",
        "/* import './b.ts'; */",
        "const u = 'https://c'; import('./d.ts');",
      ].join('\n'),
    );
    expect(specifiers).to.deep.equal(['./d.ts']);
  });

  it('distinguishes the global process from other names', () => {
    const reads = (text: string) => parseSourceFile('lib/a.ts', text).readsProcess;
    expect(reads('const { env } = process.env;')).to.equal(true);
    expect(reads("import { argv } from 'node:process';")).to.equal(true);
    expect(reads('globalThis.process.exit();')).to.equal(true);
    expect(reads('const { version } = process;')).to.equal(true);
    expect(reads('call(process, 1);')).to.equal(true);
    expect(reads('// process.env is read elsewhere')).to.equal(false);
    expect(reads('this.process.start(); child.process[0]; call(this.process);')).to.equal(false);
  });
});

/** The folders that a cell of the page's table permits: names, `*base*` and `*kit*`. */
function importsIn(cell: string): readonly string[] {
  return [...cell.matchAll(/\*(base|kit)\*|`([\w-]+)`/g)].flatMap(([, set, name = '']) =>
    set === undefined ? [name] : set === 'base' ? SHARED : SUBSYSTEM,
  );
}

/** Every import of a project file for which `allowed` is false, as `from → to`. */
function offencesOf(
  sources: readonly SourceFile[],
  allowed: (source: SourceFile, target: string) => boolean,
): string[] {
  return sources.flatMap((source) =>
    source.specifiers
      .map((specifier) => resolve(source.path, specifier))
      .filter((target) => target !== undefined)
      .filter((target) => !allowed(source, target))
      .map((target) => `${source.path} → ${target}`),
  );
}

/** The source that a specifier resolves to, or `undefined` for packages, Node's own modules and plain data. */
function resolve(path: string, specifier: string): string | undefined {
  if (specifier.endsWith('.json') || specifier.includes('/node_modules/')) return undefined; // data, or a package's file
  if (specifier.startsWith('#')) return specifier.slice(1);
  return specifier.startsWith('.') ? new URL(specifier, `file:///${path}`).pathname.slice(1) : undefined;
}

/** `kubernetes` for `lib/kubernetes/selectors/x.ts`, `.` for a file right in lib/, `simulator`, and the whole path elsewhere. */
function folderOf(path: string): string {
  const [root, folder, file] = path.split('/');
  if (root === 'simulator') return root;
  if (root !== 'lib' || folder === undefined) return path;
  return file === undefined ? '.' : folder;
}

/** The folder's own files and folders that import themselves indirectly. */
function cyclesIn(folder: string, sources: readonly SourceFile[]): string[] {
  const imports = new Map<string, Set<string>>();
  for (const { path, specifiers } of sources) {
    const from = partOf(path, folder);
    for (const specifier of from === undefined ? [] : specifiers) {
      const target = resolve(path, specifier);
      const to = target && partOf(target, folder);
      if (from !== undefined && to !== undefined && to !== from)
        imports.set(from, (imports.get(from) ?? new Set()).add(to));
    }
  }
  const reachesItself = (part: string) => {
    const reached = new Set(imports.get(part));
    for (const one of reached) for (const next of imports.get(one) ?? []) reached.add(next);
    return reached.has(part);
  };
  return [...imports.keys()].filter(reachesItself).map((part) => `${folder}: ${part}`);
}

/** `lib` and `lib/a` for `lib/a/b.ts`. */
function foldersAbove(path: string): readonly string[] {
  const segments = path.split('/').slice(0, -1);
  return segments.map((_, index) => segments.slice(0, index + 1).join('/'));
}

/** `b` for `lib/a/b/c.ts` and `b.ts` for `lib/a/b.ts`, of the folder `lib/a`; `undefined` elsewhere. */
function partOf(path: string, folder: string): string | undefined {
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1).split('/', 1)[0] : undefined;
}

/** `scrape` for `lib/resource-metrics/scrape/x.ts`, `manager.ts` for a file beside it; `undefined` elsewhere. */
function stageOf(path: string): string | undefined {
  const [, subsystem, stage] = path.split('/');
  return subsystem === 'resource-metrics' ? stage : undefined;
}

/** `@scope/name` or `name`, without a path inside the package. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function paths(sources: readonly SourceFile[]): string[] {
  return sources.map(({ path }) => path);
}

/** Numbers and texts that a spec imports from lib/; the simulator's are permitted. */
function constantsImportedBy(path: string, text: string): readonly string[] {
  return [...text.matchAll(/^import \{([^}]*)\} from '#(lib\/[^']*)';$/gm)].flatMap(
    ([, names = '', source = '']) =>
      (names.match(/\b[A-Z][A-Z\d_]+\b/g) ?? [])
        .filter((name) => constantIn(readFileSync(source, 'utf8'), name))
        .map((name) => `${path}: ${name}`),
  );
}

function constantIn(source: string, name: string): boolean {
  return new RegExp(`^export const ${name}(?:: \\w+)? =\\s+['"\`\\d-]`, 'm').test(source);
}
