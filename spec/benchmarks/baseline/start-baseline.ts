import { SpawnedProgram } from '#spec/support/spawned-program.ts';
import type { ServingCertificate } from './baseline-server.ts';
import type { Recording } from './record-responses.ts';

/** Options of the baseline's process. */
export interface BaselineOrder extends Recording {
  /** The server's certificate, so that handshakes have the same cost. */
  readonly certificate: ServingCertificate;
}

/** The baseline, in a process of its own like the server. */
export interface Baseline extends AsyncDisposable {
  readonly origin: string;
  readonly pid: number;
}

const READY_WITHIN_MS = 60_000;

/**
 * Starts a process that records a server's responses and serves them.
 *
 * @throws Error with the last output of the process
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
