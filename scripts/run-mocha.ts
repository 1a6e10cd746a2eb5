import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';

/** Messages of mocha's process: `spec/support/machine-programs.ts` and `spec-durations.ts` send them. */
export interface SpecMessage {
  /** Why a spec skipped itself. */
  readonly skipped?: string;
  /** A file whose specs have ended, and their duration. */
  readonly file?: string;
  readonly durationMs?: number;
}

export interface MochaOptions {
  readonly stdio?: 'inherit' | 'pipe';
  readonly env?: NodeJS.ProcessEnv;
  readonly onMessage?: (message: SpecMessage) => void;
}

/** Starts mocha with a compile cache for itself and the programs that its specs start. */
export function startMocha(args: readonly string[], options: MochaOptions = {}): ChildProcess {
  const { stdio = 'inherit', env = process.env, onMessage } = options;
  const mocha = spawn('mocha', [...args], {
    stdio: ['inherit', stdio, stdio, 'ipc'],
    env: { ...env, NODE_COMPILE_CACHE: env.NODE_COMPILE_CACHE ?? resolve('.cache/compiled') },
  });
  mocha.on('message', (message) => onMessage?.(message as SpecMessage));
  return mocha;
}
