import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '#spec/support/free-port.ts';
import { imageEnvironment } from '#spec/support/image-environment.ts';
import type { SimulatedSystem } from '#spec/support/simulated-system.ts';
import type { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { spawnServer } from '#spec/support/spawned-server.ts';

/** A server that scrapes the same kubelets as the measured server, at the same time. */
export interface ServerBeside {
  /** Command line without flags. */
  readonly command: string;
  readonly origin: string;
  readonly program: SpawnedProgram;
}

/** Servers that stop on disposal. */
export interface ServersBeside extends AsyncDisposable {
  readonly servers: readonly ServerBeside[];
}

/**
 * Starts one server for each command line, in the environment of the image; `env NAME=VALUE …` before a program
 * overrides it.
 */
export async function spawnBeside(
  system: Pick<SimulatedSystem, 'folder'>,
  commands: readonly (readonly [string, ...string[]])[],
  flags: readonly string[],
): Promise<ServersBeside> {
  await using stack = new AsyncDisposableStack();
  const servers: ServerBeside[] = [];
  for (const [index, program] of commands.entries()) {
    const folder = join(system.folder, `beside-${index}`);
    await mkdir(folder);
    const port = await freePort();
    const server = spawnServer({
      kubeconfig: join(system.folder, 'metrics-server.kubeconfig'),
      kubeletCa: join(system.folder, 'kubelet-ca.crt'),
      ...{ port, folder, flags, program },
      env: imageEnvironment(),
    });
    stack.use(server);
    servers.push({ command: program.join(' '), origin: `https://127.0.0.1:${port}`, program: server });
  }
  const owned = stack.move();
  return { servers, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
