import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createClient } from '@redis/client';
import { freePort } from './free-port.ts';
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

/** Starts Debian's redis-server; `undefined` where there is none. */
export async function startRedis(options: RealRedisOptions = {}): Promise<RealRedis | undefined> {
  const { isClustered = false, watchedPort, tls } = options;
  const host = '127.0.0.1';
  const [port, busPort] = [await freePort(), await freePort()];
  const directory = await TemporaryDirectory.create();
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
  const child = spawn('redis-server', [config, ...(watchedPort === undefined ? [] : ['--sentinel'])], {
    stdio: 'ignore',
  });
  const failed = once(child, 'error').then(() => true);
  const exited = once(child, 'exit');
  const spawned = once(child, 'spawn').then(() => false);
  if (await Promise.race([failed, spawned])) {
    await directory[Symbol.asyncDispose]();
    return undefined;
  }
  const secured = tls && { tls: true as const, ...tls, servername: '' };
  const client = createClient({ socket: { host, port, ...secured } });
  client.on('error', () => {}); // it is connected again until the server is there
  const ended = exited.then(([status]) => {
    throw new Error(`redis-server ended with status ${status}`);
  });
  ended.catch(() => {}); // later it is to end
  await Promise.race([client.connect(), ended]);
  return {
    ...{ host, port, busPort },
    send: (...words) => client.sendCommand([...words]),
    async [Symbol.asyncDispose]() {
      client.destroy();
      child.kill('SIGKILL');
      await exited;
      await directory[Symbol.asyncDispose]();
    },
  };
}
