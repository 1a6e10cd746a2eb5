// Runs every acceptance spec, or those of some files: node scripts/run-acceptance.ts [files]. Each file has its own
// mocha process and cluster, so a failure in one does not skip the others. A run of all also fails if the manifests
// grant a permission that no request used; RECORDED_REQUESTS is a folder for the recorded requests of each file.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { findBinaries } from '#spec/acceptance/control-plane/find-binaries.ts';
import { unexplainedPermissions } from '#spec/acceptance/permissions/recorded-requests.ts';
import { formatPermission } from '#spec/acceptance/permissions/unused-permissions.ts';
import { startMocha } from './run-mocha.ts';

/** More would only compete for the processors: each file starts an etcd and a kube-apiserver. */
const processes = Math.min(2, availableParallelism());

/**
 * The longest files, which begin first, so that none of them runs alone at the end. The first two run together: the
 * timing of the HPA controller is best observed beside a file that mostly waits.
 */
const SLOWEST_FIRST = [
  'hpa',
  'metrics-adapter',
  'killed-leaders',
  'scaled-objects',
  'metrics-server',
  'scaled-objects-migration',
];

const startMs = performance.now();
const kubernetes = await kubernetesVersion();
console.log(`On ${kubernetes}`);
const files = process.argv.slice(2);
const left = (files.length > 0 ? [...files] : globSync('spec/acceptance/**/*.acceptance.ts')).sort(
  byPosition,
);
const failed: string[] = [];
const skipped: string[] = [];
const { RECORDED_REQUESTS: retained } = process.env;
const requests = retained ?? (await mkdtemp(join(tmpdir(), 'requests-')));
try {
  await Promise.all(Array.from({ length: processes }, runNext));
  if (files.length === 0) await comparePermissions();
} finally {
  if (retained === undefined) await rm(requests, { recursive: true });
}
if (failed.length > 0) process.exitCode = 1;
const outcome = failed.length > 0 ? `Failed: ${failed.sort().join(', ')};` : 'All passed;';
console.log(`${outcome} on ${kubernetes} in ${secondsSince(startMs)} s, ${processes} files at a time`);

/** @returns such as `Kubernetes v1.36.2` */
async function kubernetesVersion(): Promise<string> {
  const found = await findBinaries();
  if (!found) throw new Error('Cannot find a control plane; run make acceptance, which builds one');
  return (await promisify(execFile)(found.apiServer, ['--version'])).stdout.trim();
}

/** Runs file after file until none is left. */
async function runNext(): Promise<void> {
  for (let file = left.shift(); file; file = left.shift()) {
    const fileStartMs = performance.now();
    const mocha = startMocha(['--reporter', 'spec', file], {
      stdio: 'pipe',
      env: { ...process.env, RECORDED_REQUESTS: requests },
      onMessage: ({ skipped: reason }) => reason !== undefined && skipped.push(reason),
    });
    const output: Buffer[] = []; // printed as a whole, not interleaved with that of another file
    mocha.stdout?.on('data', (part: Buffer) => output.push(part));
    mocha.stderr?.on('data', (part: Buffer) => output.push(part));
    const [status] = await once(mocha, 'close');
    if (status !== 0) failed.push(file);
    process.stdout.write(Buffer.concat(output));
    console.log(`${file} ${status === 0 ? 'passed' : 'failed'} in ${secondsSince(fileStartMs)} s\n`);
  }
}

/** Fails the run for each permission that no request used, unless specs that would have used it did not finish. */
async function comparePermissions(): Promise<void> {
  const unused = (await unexplainedPermissions(requests)).map(formatPermission);
  if (unused.length === 0) return;
  console.log(
    `Permissions that no request used, and that explained-permissions.ts does not explain:\n${unused.join('\n')}`,
  );
  if (failed.length === 0 && skipped.length === 0) failed.push('the permissions of the manifests');
}

function byPosition(one: string, other: string): number {
  return positionOf(one) - positionOf(other) || one.localeCompare(other);
}

function positionOf(file: string): number {
  const position = SLOWEST_FIRST.indexOf(basename(file, '.acceptance.ts'));
  return position < 0 ? SLOWEST_FIRST.length : position;
}

function secondsSince(sinceMs: number): number {
  return Math.round((performance.now() - sinceMs) / 1000);
}
