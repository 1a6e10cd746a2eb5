import { createClient } from '@redis/client';
import { freePort } from './free-port.ts';
import { SpawnedProgram } from './spawned-program.ts';
import { TemporaryDirectory } from './temporary-directory.ts';

/** A Redis server of its own, on a port of its own. */
export interface RealRedis extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** Where the other servers of its cluster find it. */
  readonly busPort: number;
  /** Sends one command. */
  send(...words: readonly string[]): Promise<unknown>;
}

/** How a server is started otherwise than plain. */
export interface RealRedisOptions {
  /** As part of a cluster, or as a sentinel that watches the master `main` at this port. */
  readonly isClustered?: boolean;
  readonly watchedPort?: number;
  /** Speaks TLS alone, by these. */
  readonly tls?: { readonly ca: string; readonly cert: string; readonly key: string };
}

/** Starts the redis-server that `requireProgram` found. */
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
  client.on('error', () => {}); // it is connected again until the server is there
  starting.defer(async () => client.destroy());
  const ended = server.ended.then(() => {
    throw new Error(`redis-server has ended: ${server.output.join('\n')}`);
  });
  ended.catch(() => {}); // later it is to end
  await Promise.race([client.connect(), ended]);
  const stack = starting.move();
  return {
    ...{ host, port, busPort },
    send: (...words) => client.sendCommand([...words]),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
