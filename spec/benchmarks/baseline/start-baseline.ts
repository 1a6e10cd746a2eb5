import { SpawnedProgram } from '#spec/support/spawned-program.ts';
import type { ServingCertificate } from './baseline-server.ts';
import type { Recording } from './record-responses.ts';

/** What the baseline's process is told. */
export interface BaselineOrder extends Recording {
  /** The server's own, so that handshakes cost the same. */
  readonly certificate: ServingCertificate;
}

/** The baseline in a process of its own, as the server has one. */
export interface Baseline extends AsyncDisposable {
  readonly origin: string;
  readonly pid: number;
}

const READY_WITHIN_MS = 60_000;

/**
 * Has another process record a server's responses and serve them.
 *
 * @throws Error with the process's last words where that fails
 */
export async function startBaseline(order: BaselineOrder): Promise<Baseline> {
  await using stack = new AsyncDisposableStack();
  const command = [`${import.meta.dirname}/main.ts`, JSON.stringify(order)];
  const program = stack.use(new SpawnedProgram(process.execPath, command, { name: 'the baseline' }));
  const line = await program.line(/^Serving at /, READY_WITHIN_MS);
  const owned = stack.move();
  return {
    origin: line.replace('Serving at ', ''),
    pid: program.pid,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
