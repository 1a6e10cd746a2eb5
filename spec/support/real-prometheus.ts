import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { freePort } from './free-port.ts';
import { TemporaryDirectory } from './temporary-directory.ts';

/** A real Prometheus server, in a folder and on a port of its own. */
export interface RealPrometheus extends AsyncDisposable {
  readonly url: URL;
}

/** Where `prometheus` is; `undefined` where this machine has none. */
export async function findPrometheus(): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, 'prometheus');
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}

/**
 * Starts one that scrapes these addresses every second, and waits until it serves.
 *
 * @param port by default a free one
 */
export async function startPrometheus(
  binary: string,
  targets: readonly string[] = [],
  port?: number,
): Promise<RealPrometheus> {
  const directory = await TemporaryDirectory.create();
  const config = JSON.stringify({
    global: { scrape_interval: '1s' },
    scrape_configs: [{ job_name: 'spec', static_configs: [{ targets }] }],
  });
  const file = await directory.write('prometheus.yaml', config);
  const listens = port ?? (await freePort());
  const args = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(directory.path, 'data')}`,
    `--web.listen-address=127.0.0.1:${listens}`,
    '--log.level=error',
  ];
  const child = spawn(binary, args, { stdio: 'ignore' });
  const exited = once(child, 'exit');
  const url = new URL(`http://127.0.0.1:${listens}`);
  const stop = async () => {
    child.kill('SIGKILL');
    await exited;
    await directory[Symbol.asyncDispose]();
  };
  while (!(await isReady(url))) {
    if (child.exitCode !== null) {
      await stop();
      throw new Error(`${binary} ended with status ${child.exitCode}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { url, [Symbol.asyncDispose]: stop };
}

async function isReady(url: URL): Promise<boolean> {
  return await fetch(new URL('/-/ready', url)).then(
    ({ ok }) => ok,
    () => false,
  );
}
