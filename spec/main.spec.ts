import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { build, type Metafile } from 'esbuild';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';
import { BUNDLE_OPTIONS } from '../scripts/bundle-options.ts';

/** `fetch/body.js` and its imports are loaded with each client, which uses them to parse the bodies of requests. */
const UNUSED_OF_UNDICI =
  /undici\/lib\/(mock|interceptor|cache|web\/(websocket|eventsource|cache|fetch\/index))/;

describe('main.ts', () => {
  let folder: TemporaryDirectory;
  let outputs: Metafile['outputs'];

  before(async () => {
    folder = await TemporaryDirectory.create();
    const { metafile } = await build({
      ...BUNDLE_OPTIONS,
      entryPoints: ['lib/main.ts'],
      outdir: join(folder.path, 'dist'),
      metafile: true,
      logLevel: 'silent',
    });
    const above = relative('.', folder.path);
    const inDist = <T extends { readonly path: string }>(one: T) => ({
      ...one,
      path: relative(above, one.path),
    });
    outputs = Object.fromEntries(
      Object.entries(metafile.outputs).map(([path, output]) => [
        relative(above, path),
        { ...output, imports: output.imports.map(inDist) },
      ]),
    );
  });

  after(() => folder?.[Symbol.asyncDispose]());

  it('bundles modules that are imported lazily by name', () => {
    const lazily = /const \{([^}]+)\} = await import\('([^'.#][^']*)'\)/g;
    const missing: string[] = [];
    for (const path of globSync('lib/**/*.ts')) {
      for (const [, names = '', name = ''] of readFileSync(path, 'utf8').matchAll(lazily)) {
        if (name.startsWith('node:')) continue;
        // A bundled CommonJS package has only its default export, unlike in Node.
        const found = Object.values(outputs).find(({ entryPoint = '' }) =>
          entryPoint.startsWith(`node_modules/${name}/`),
        );
        for (const one of names.split(',').map((text) => text.split(':')[0]?.trim() ?? ''))
          if (one !== '' && !found?.exports.includes(one)) missing.push(`${path}: ${one} of ${name}`);
      }
    }
    expect(missing).to.deep.equal([]);
  });

  for (const [command, foreign] of [
    [
      'metrics-server',
      /^lib\/(autoscaler|control|cron-hpa|hpa|scaled-objects|metrics-adapter|collection|sources|prometheus-operator)\//,
    ],
    ['autoscaler', /^lib\/(resource-metrics|prometheus-operator)\//],
    [
      'prometheus-operator',
      /^lib\/(autoscaler|control|cron-hpa|hpa|scaled-objects|metrics-adapter|collection|sources|resource-metrics|apiserver)\//,
    ],
  ] as const) {
    it(`loads no module of the other commands for ${command}`, () => {
      const entry = Object.keys(outputs).find((path) => path.startsWith(`dist/${command}-command-`)) ?? '';
      const loaded = [...loadedWith('dist/main.js'), ...loadedWith(entry)];
      expect(loaded).to.include(`lib/${command}-command.ts`);
      expect(loaded.filter((path) => foreign.test(path))).to.deep.equal([]);
    });
  }

  const subsystems = [
    'lib/cron-hpa/cron-hpa-subsystem.ts',
    'lib/hpa/hpa-subsystem.ts',
    'lib/scaled-objects/scaled-objects-subsystem.ts',
    'lib/metrics-adapter/scaling-schedules/scaling-schedule-controller.ts',
    'lib/metrics-adapter/metrics-adapter.ts',
  ];

  it('loads only the controllers that flags select', () => {
    const entryOf = (source: string) =>
      Object.keys(outputs).find((path) => outputs[path]?.entryPoint === source) ?? '';
    const partsIn = (source: string) => {
      const loaded = new Set(loadedWith(entryOf(source)));
      return subsystems.filter((path) => loaded.has(path));
    };
    expect(partsIn('lib/autoscaler-command.ts')).to.deep.equal([]);
    for (const path of subsystems) expect(partsIn(path), path).to.deep.equal([path]);
  });

  it('loads the clients of sources and clusters only on first use, in all programs', () => {
    const clients = ['@aws-sdk', '@bufbuild/protobuf', '@grpc', '@kubernetes/client-node', 'mysql2', 'pg'];
    const entries = ['lib/metrics-server-command.ts', 'lib/autoscaler-command.ts', ...subsystems].flatMap(
      (source) => Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === source),
    );
    expect(entries).to.have.length.of.at.least(6);
    const loaded = entries.flatMap((entry) => loadedWith(entry));
    const early = clients.filter((name) => loaded.some((path) => path.startsWith(`node_modules/${name}/`)));
    expect(early).to.deep.equal([]);
    const all = Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs));
    const absent = clients.filter((name) => !all.some((path) => path.startsWith(`node_modules/${name}/`)));
    expect(absent).to.deep.equal([]);
  });

  it('excludes unused parts of packages from the bundle', () => {
    const sources = Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs));
    const bytesOf = (pattern: RegExp) =>
      sources.reduce((sum, [path, { bytesInOutput }]) => sum + (pattern.test(path) ? bytesInOutput : 0), 0);
    expect(bytesOf(/zod\/v4\/locales\//)).to.be.within(1, 10_000);
    expect(bytesOf(/mime-db\/db\.json$/)).to.be.within(1, 3_000);
    expect(bytesOf(/@opentelemetry\//)).to.equal(0);
  });

  for (const command of ['metrics-server', 'autoscaler', 'prometheus-operator']) {
    it(`bundles no fetch and WebSocket, of undici or of Node's own, for ${command}`, async () => {
      const entry = Object.keys(outputs).find((path) => path.startsWith(`dist/${command}-command-`)) ?? '';
      expect(loadedWith(entry).filter((path) => UNUSED_OF_UNDICI.test(path))).to.deep.equal([]);
      const program = `
        await import('${join(folder.path, entry)}');
        console.log(process.moduleLoadList.includes('NativeModule internal/deps/undici/undici'));
      `;
      const args = ['--input-type=module', '-e', program];
      const { stdout } = await promisify(execFile)(process.execPath, args);
      expect(stdout).to.equal('false\n');
    });
  }

  /** Returns the sources in a chunk and in those that it imports statically. */
  function loadedWith(path: string, observed = new Set<string>()): string[] {
    if (observed.has(path)) return [];
    observed.add(path);
    const output = outputs[path];
    if (!output) throw new Error(`Cannot find ${path}`);
    const next = output.imports.filter(({ kind }) => kind === 'import-statement').map((one) => one.path);
    return [
      ...Object.keys(output.inputs),
      ...next.filter((one) => one in outputs).flatMap((one) => loadedWith(one, observed)),
    ];
  }
});
