import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createClient } from '@redis/client';
import { freePort } from './spawned-server.ts';
import { TemporaryDirectory } from './temporary-directory.ts';

/** A Redis server of its own, on a port of its own. */
export interface RealRedis extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** Sends one command. */
  send(...words: readonly string[]): Promise<unknown>;
}

/** Starts Debian's redis-server; `undefined` where there is none. */
export async function startRedis(): Promise<RealRedis | undefined> {
  const host = '127.0.0.1';
  const port = await freePort();
  const directory = await TemporaryDirectory.create();
  const child = spawn(
    'redis-server',
    ['--port', `${port}`, '--bind', host, '--save', '', '--dir', directory.path, '--appendonly', 'no'],
    { stdio: 'ignore' },
  );
  const failed = once(child, 'error').then(() => true);
  const exited = once(child, 'exit');
  const spawned = once(child, 'spawn').then(() => false);
  if (await Promise.race([failed, spawned])) {
    await directory[Symbol.asyncDispose]();
    return undefined;
  }
  const client = createClient({ socket: { host, port } });
  client.on('error', () => {}); // it is connected again until the server is there
  await client.connect();
  return {
    ...{ host, port },
    send: (...words) => client.sendCommand([...words]),
    async [Symbol.asyncDispose]() {
      client.destroy();
      child.kill('SIGKILL');
      await exited;
      await directory[Symbol.asyncDispose]();
    },
  };
}
