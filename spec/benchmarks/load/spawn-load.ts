import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { LoadJob, LoadResult } from './generate-load.ts';

const LOAD_GENERATOR = `${import.meta.dirname}/main.ts`;

/** Generates load in a process of its own. The job contains a private key, so it is not passed on the command line. */
export async function spawnLoad(job: LoadJob): Promise<LoadResult> {
  const running = promisify(execFile)(process.execPath, [LOAD_GENERATOR], {
    timeout: job.durationMs + 60_000,
  });
  running.child.stdin?.on('error', () => {}); // the process has ended and reports the reason itself
  running.child.stdin?.end(JSON.stringify(job));
  const { stdout } = await running.catch((cause: Error & { readonly stderr?: string }) => {
    throw new Error(`Cannot measure ${job.path}: ${cause.stderr?.trim() || cause.message}`, { cause });
  });
  return JSON.parse(stdout) as LoadResult;
}
