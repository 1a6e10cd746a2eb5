import { createClient } from '@redis/client';
import { freePort } from './free-port.ts';
import { SpawnedProgram } from './spawned-program.ts';
import { TemporaryDirectory } from './temporary-directory.ts';

/** A Redis server on its own port. */
export interface RealRedis extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** Port of the cluster bus. */
  readonly busPort: number;
  send(...words: readonly string[]): Promise<unknown>;
}

export interface RealRedisOptions {
  /** Starts a member of a cluster, or a sentinel that monitors the master `main` at this port. */
  readonly isClustered?: boolean;
  readonly watchedPort?: number;
  /** Accepts only TLS, with these files. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string };
}

/** Starts the redis-server of `requireProgram`. */
export async function startRedis(binary: string, options: RealRedisOptions = {}): Promise<RealRedis> {
  const { isClustered = false, watchedPort, tls } = options;
  const host = '127.0.0.1';
  const [port, busPort] = [await freePort(), await freePort()];
  await using starting = new AsyncDisposableStack();
  const directory = starting.use(await TemporaryDirectory.create());
  const listens = tls ? ['port 0', `tls-port ${port}`] : [`port ${port}`];
  const files: string[] = [];
  for (const [name, pem] of Object.entries(tls ?? {}))
    files.push(`tls-${name === 'ca' ? 'ca-cert' : name}-file ${await directory.write(`${name}.pem`, pem)}`);
  const kind =
    watchedPort === undefined
      ? [
          "save ''",
          'appendonly no',
          ...(isClustered ? ['cluster-enabled yes', `cluster-port ${busPort}`] : []),
        ]
      : [`sentinel monitor main ${host} ${watchedPort} 1`];
  const lines = [...listens, ...files, `bind ${host}`, `dir ${directory.path}`, ...kind, ''];
  const config = await directory.write('redis.conf', lines.join('\n'));
  const args = [config, ...(watchedPort === undefined ? [] : ['--sentinel'])];
  const server = starting.use(new SpawnedProgram(binary, args, { name: 'redis-server' }));
  const secured = tls && { tls: true as const, ...tls, servername: '' };
  const client = createClient({ socket: { host, port, ...secured } });
  client.on('error', () => {}); // reconnects until the server is ready
  starting.defer(async () => client.destroy());
  const ended = server.ended.then(() => {
    throw new Error(`redis-server has ended: ${server.output.join('\n')}`);
  });
  ended.catch(() => {}); // it is expected to end later
  await Promise.race([client.connect(), ended]);
  const stack = starting.move();
  return {
    ...{ host, port, busPort },
    send: (...words) => client.sendCommand([...words]),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
