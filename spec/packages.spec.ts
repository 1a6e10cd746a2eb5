import { readFileSync } from 'node:fs';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { type AnyNode, type MemberExpression, type Property, parse } from 'acorn';
import { expect } from 'chai';
import { parseSourceFile, readSourceFiles } from '#spec/support/source-file.ts';
import { nodesOf } from '#spec/support/syntax-tree.ts';

/** Documented entry points of packages besides their main entry, by subpath. */
const DOCUMENTED_SUBPATHS: ReadonlySet<string> = new Set([
  '@bufbuild/protobuf/codegenv2',
  '@bufbuild/protobuf/wire',
  '@stryker-mutator/api/check',
  '@stryker-mutator/api/core',
  '@stryker-mutator/api/plugin',
  '@stryker-mutator/api/test-runner',
  'typescript/unstable/ast',
  'typescript/unstable/sync',
]);

/**
 * Names with a leading `_` that are public to read: a field of Nakadi's JSON, methods that Node's streams
 * document, and those that gRPC declares abstract for subclasses of its `ChannelCredentials`.
 */
const PUBLIC_NAMES: ReadonlySet<string> = new Set([
  '_links',
  '_isSecure',
  '_createSecureConnector',
  '_read',
  '_write',
  '_writev',
  '_final',
  '_destroy',
]);

/** The build script, which replaces entries of packages by smaller ones: it fails if a file has moved. */
const SMALLER_ENTRIES = 'scripts/leave-out.ts';

describe('packages', () => {
  it('are imported by the names that they export and document', () => {
    const sources = ['lib', 'simulator', 'scripts', 'spec'].flatMap(readSourceFiles);
    const inside = sources
      .filter(({ path }) => path !== SMALLER_ENTRIES && path !== 'spec/packages.spec.ts') // the spec's own cases
      .flatMap(({ path, specifiers }) => insideImports(specifiers).map((one) => `${path}: ${one}`));
    expect(inside).to.deep.equal([]);
  });

  it('are used by their public interface, without process-wide settings', () => {
    const found = ['lib', 'simulator', 'scripts']
      .flatMap(readSourceFiles)
      .filter(({ path }) => path !== SMALLER_ENTRIES)
      .flatMap(({ path }) => intrusionsOf(path, readFileSync(path, 'utf8')));
    expect(found).to.deep.equal([]);
  });

  it('export the subpaths that their documentation names', () => {
    const { resolve } = createRequire(import.meta.url);
    for (const subpath of DOCUMENTED_SUBPATHS) expect(() => resolve(subpath), subpath).not.to.throw();
  });
});

describe('intrusionsOf', () => {
  const CASES: readonly (readonly [string, readonly string[]])[] = [
    ["import { a } from 'undici/lib/core/connect.js';", ['imports undici/lib/core/connect.js']],
    ["import type { A } from '@koa/router/dist/a.js';", ['imports @koa/router/dist/a.js']],
    ["const a = await import('../node_modules/a/b.js');", ['imports ../node_modules/a/b.js']],
    ["import * as z from 'zod'; import fs from 'node:fs/promises'; import '#lib/a/b.ts';", []],
    ["import koa from 'koa'; import { a } from '@scope/package'; import './a/b.ts';", []],
    ['log(socket._host, socket["_host"]);', ['_host', '_host']],
    ['socket._host = host;', ['sets socket._host', '_host']],
    ['socket()["_host"] = host;', ['sets _host', '_host']],
    ['credentials._createSecureConnector = connect;', ['sets credentials._createSecureConnector']],
    ['Object.assign(this, { _host: host });', ['_host']],
    ['const { _states: states } = cron;', ['_states']],
    ['const { a: { _b } } = cron as unknown as X;', ['_b']],
    ["Reflect.set(kubeconfig, 'authenticators', []);", ['Reflect.set of authenticators']],
    ["import tls from 'node:tls'; tls.DEFAULT_CIPHERS += ':!DHE';", ['sets tls.DEFAULT_CIPHERS']],
    ["import * as a from 'a'; a.b.c = 1;", ['sets a.b.c']],
    [
      "import { setDefaultResultOrder } from 'node:dns'; setDefaultResultOrder('a');",
      ['calls setDefaultResultOrder'],
    ],
    ["import dns from 'node:dns'; dns.setDefaultResultOrder('a');", ['calls dns.setDefaultResultOrder']],
    ["import { setGlobalDispatcher } from 'undici'; setGlobalDispatcher(a);", ['calls setGlobalDispatcher']],
    ["import { a } from './a.ts'; a.b = 1; const _c = a; links._links(); using _e = _c;", []],
    ['class A extends Duplex { override _read() { this.a = 1; } }', []],
  ];

  for (const [text, intrusions] of CASES)
    it(`finds ${intrusions.join(' and ') || 'nothing'} in: ${text}`, () => {
      expect(intrusionsOf('lib/a.ts', text)).to.deep.equal(intrusions.map((one) => `lib/a.ts: ${one}`));
    });
});

/** Accesses of a source to a package's internals, and process-wide settings. */
function intrusionsOf(path: string, text: string): readonly string[] {
  const imported = insideImports(parseSourceFile(path, text).specifiers);
  const code = stripTypeScriptTypes(text);
  const nodes = [...nodesOf(parse(code, { ecmaVersion: 'latest', sourceType: 'module' }))];
  const packages = namesOfPackages(nodes);
  const found = nodes.flatMap((node) => [...privateNamesIn(node), ...settingsIn(node, packages)]);
  return [...imported, ...found].map((what) => `${path}: ${what}`);
}

function insideImports(specifiers: readonly string[]): readonly string[] {
  return specifiers.filter(isInsideOfPackage).map((specifier) => `imports ${specifier}`);
}

function isInsideOfPackage(specifier: string): boolean {
  if (specifier.includes('node_modules/')) return true;
  if (/^(\.|#|node:)/.test(specifier)) return false;
  const isWhole = specifier.split('/').length === (specifier.startsWith('@') ? 2 : 1);
  return !isWhole && !DOCUMENTED_SUBPATHS.has(specifier);
}

/** The local names of a source's imports from packages and Node. */
function namesOfPackages(nodes: readonly AnyNode[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const node of nodes) {
    if (node.type !== 'ImportDeclaration' || /^[.#]/.test(String(node.source.value))) continue;
    for (const { local } of node.specifiers) names.add(local.name);
  }
  return names;
}

function privateNamesIn(node: AnyNode): readonly string[] {
  if (node.type === 'MemberExpression') return privateName(nameOf(node));
  if (node.type === 'ObjectPattern')
    return node.properties.flatMap((one) => (one.type === 'Property' ? privateName(keyOf(one)) : []));
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return [];
  const called = pathOf(node.callee);
  const [, key] = node.arguments;
  if (/^Reflect\.(get|set|defineProperty)$/.test(called) && key?.type === 'Literal')
    return [`${called} of ${key.value}`];
  if (called !== 'Object.assign') return [];
  return node.arguments.flatMap((argument) =>
    argument.type !== 'ObjectExpression'
      ? []
      : argument.properties.flatMap((one) => (one.type === 'Property' ? privateName(keyOf(one)) : [])),
  );
}

function settingsIn(node: AnyNode, packages: ReadonlySet<string>): readonly string[] {
  if (node.type === 'AssignmentExpression' && node.left.type === 'MemberExpression') {
    const set = pathOf(node.left) || nameOf(node.left);
    return packages.has(set.split('.', 1)[0] ?? '') || /^_./.test(nameOf(node.left)) ? [`sets ${set}`] : [];
  }
  if (node.type !== 'CallExpression') return [];
  const called = pathOf(node.callee);
  return packages.has(called.split('.', 1)[0] ?? '') && /(^|\.)set(Default|Global)/.test(called)
    ? [`calls ${called}`]
    : [];
}

function privateName(name: string): readonly string[] {
  return /^_./.test(name) && !PUBLIC_NAMES.has(name) ? [name] : [];
}

function keyOf({ key }: Property | { readonly key: AnyNode }): string {
  return key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : '';
}

function nameOf({ property, computed }: MemberExpression): string {
  return computed && property.type !== 'Literal' ? '' : keyOf({ key: property as AnyNode });
}

/** `a.b.c` for members of a name; empty for other expressions. */
function pathOf(node: AnyNode): string {
  if (node.type === 'Identifier') return node.name;
  if (node.type !== 'MemberExpression') return '';
  const object = pathOf(node.object);
  return object === '' ? '' : `${object}.${nameOf(node)}`;
}
