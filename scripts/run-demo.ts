import { describeError } from '#lib/telemetry/error-text.ts';
import { printableLines } from '#lib/telemetry/printable.ts';

/** Runs a demo until it ends or is interrupted; a failure prints one line, and sets the exit status. */
export async function runDemo(demonstrate: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => interruption.abort());
  }
  try {
    await demonstrate(interruption.signal);
  } catch (error) {
    if (interruption.signal.aborted) return;
    console.error(`The demo failed. ${printableLines(describeError(error))}`);
    process.exitCode = 1;
  }
}
