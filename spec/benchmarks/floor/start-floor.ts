import { SpawnedProgram } from '#spec/support/spawned-program.ts';
import type { ServingCertificate } from './floor-server.ts';
import type { Recording } from './record-answers.ts';

/** What the floor's process is told. */
export interface FloorOrder extends Recording {
  /** The server's own, so that handshakes cost the same. */
  readonly certificate: ServingCertificate;
}

/** The floor in a process of its own, as the server has one. */
export interface Floor extends AsyncDisposable {
  readonly origin: string;
  readonly pid: number;
}

const READY_WITHIN_MS = 60_000;

/**
 * Has another process record a server's answers and serve them.
 *
 * @throws Error with the process's last words where that fails
 */
export async function startFloor(order: FloorOrder): Promise<Floor> {
  await using stack = new AsyncDisposableStack();
  const command = [`${import.meta.dirname}/main.ts`, JSON.stringify(order)];
  const program = stack.use(new SpawnedProgram(process.execPath, command, { name: 'the floor' }));
  const line = await program.line(/^Serving at /, READY_WITHIN_MS);
  const owned = stack.move();
  return {
    origin: line.replace('Serving at ', ''),
    pid: program.pid,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
