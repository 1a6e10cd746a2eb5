import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { SpawnedProgram } from './spawned-program.ts';
import { TemporaryDirectory } from './temporary-directory.ts';

/** A real Prometheus server with its own folder and port. */
export interface RealPrometheus extends AsyncDisposable {
  readonly url: URL;
}

/**
 * Starts Prometheus, which scrapes these addresses every second, and waits until it is ready.
 *
 * @param binary path from `requireProgram`
 * @param port by default, a free one
 */
export async function startPrometheus(
  binary: string,
  targets: readonly string[] = [],
  port?: number,
): Promise<RealPrometheus> {
  await using starting = new AsyncDisposableStack();
  const directory = starting.use(await TemporaryDirectory.create());
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
  const program = starting.use(new SpawnedProgram(binary, args, { name: 'Prometheus' }));
  const url = new URL(`http://127.0.0.1:${listens}`);
  await program.until(() => isReady(url));
  const stack = starting.move();
  return { url, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

async function isReady(url: URL): Promise<boolean> {
  return await fetch(new URL('/-/ready', url)).then(
    ({ ok }) => ok,
    () => false,
  );
}
