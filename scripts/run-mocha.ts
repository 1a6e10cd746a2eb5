import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';

/** What mocha's process sends while it runs: `spec/support/machine-programs.ts` and `spec-durations.ts` have the senders. */
export interface SpecMessage {
  /** Why a spec skipped itself. */
  readonly skipped?: string;
  /** A file whose specs have ended, and how long these took. */
  readonly file?: string;
  readonly durationMs?: number;
}

export interface MochaOptions {
  readonly stdio?: 'inherit' | 'pipe';
  readonly env?: NodeJS.ProcessEnv;
  readonly onMessage?: (message: SpecMessage) => void;
}

/** Starts mocha so that neither it nor the programs that its specs start compile again what has been compiled before. */
export function startMocha(args: readonly string[], options: MochaOptions = {}): ChildProcess {
  const { stdio = 'inherit', env = process.env, onMessage } = options;
  const mocha = spawn('mocha', [...args], {
    stdio: ['inherit', stdio, stdio, 'ipc'],
    env: { ...env, NODE_COMPILE_CACHE: env.NODE_COMPILE_CACHE ?? resolve('.cache/compiled') },
  });
  mocha.on('message', (message) => onMessage?.(message as SpecMessage));
  return mocha;
}
