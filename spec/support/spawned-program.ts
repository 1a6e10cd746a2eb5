import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { eventually } from './eventually.ts';
import { assertRequested } from './requested-programs.ts';

/** How a program ended: one of the two is set. */
export interface Ending {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** Options besides the command line. */
export interface SpawnOptions {
  /** The program's name in messages. */
  readonly name: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Receives every line as it is printed. */
  readonly onLine?: (line: string) => void;
}

/**
 * A program in its own process and session: Ctrl-C does not reach it, and it ends with this process,
 * even if that is killed.
 */
export class SpawnedProgram implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #output: string[] = [];
  readonly #onLine = new Set<() => void>();
  #hasEnded = false;
  /** The program's name in messages. */
  readonly name: string;
  /** Settles when the program has ended and its output has been read. */
  readonly ended: Promise<Ending>;

  constructor(command: string, args: readonly string[], options: SpawnOptions) {
    assertRequested(command);
    const { name, env = process.env, onLine } = options;
    const child = spawn(command, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    this.name = name;
    if (onLine) this.#onLine.add(() => onLine(this.#output.at(-1) ?? ''));
    this.ended = new Promise((settle, refuse) => {
      child.once('error', (cause) => refuse(new Error(`Cannot start ${name}: ${cause.message}`, { cause })));
      child.once('close', (status, signal) => settle({ status, signal }));
    });
    const note = () => {
      this.#hasEnded = true;
    };
    this.ended.then(note, note); // those who await a line or the end get the error
    this.#collect(child.stdout);
    this.#collect(child.stderr);
    if (child.pid !== undefined) reap(child.pid, this.ended);
  }

  /** The process ID. */
  get pid(): number {
    if (this.#child.pid === undefined) throw new Error(`${this.name} has not started`);
    return this.#child.pid;
  }

  /** Every line of both outputs so far, in order of arrival. */
  get output(): readonly string[] {
    return this.#output;
  }

  /**
   * Waits for a line that matches, printed before or after the call.
   *
   * @throws Error with the program's last output if it ends without one or `timeoutMs` pass.
   */
  async line(pattern: RegExp, timeoutMs: number): Promise<string> {
    const timedOut = AbortSignal.timeout(timeoutMs);
    const over = Promise.race([this.ended, once(timedOut, 'abort')]);
    over.catch(() => {}); // it may fail after the line was found
    for (;;) {
      const found = this.#output.find((line) => pattern.test(line));
      if (found !== undefined) return found;
      if (this.#hasEnded) throw new Error(this.#missing(pattern, 'before its end'));
      if (timedOut.aborted) throw new Error(this.#missing(pattern, `in ${timeoutMs} ms`));
      await Promise.race([over, this.#nextLine()]);
    }
  }

  /** Waits until a condition holds. @throws Error with the program's last output if it ends before */
  async until(condition: () => Promise<boolean>): Promise<void> {
    await eventually(async () => {
      const isOver = this.#hasEnded;
      if (await condition()) return true;
      if (isOver) throw new Error(`${this.name} has ended; its last words were:\n${this.#lastWords()}`);
      return false;
    });
  }

  /** Signals the program and its child processes; has no effect once all have ended. */
  kill(signal: NodeJS.Signals): void {
    if (this.#hasEnded || this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // it has just ended
    }
  }

  /** Terminates the program, and kills it five seconds later. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.kill('SIGTERM');
    const force = setTimeout(() => this.kill('SIGKILL'), 5_000);
    await this.ended.catch(() => {});
    clearTimeout(force);
  }

  #collect(stream: Readable): void {
    createInterface({ input: stream }).on('line', (line) => {
      this.#output.push(line);
      for (const report of this.#onLine) report();
    });
  }

  #nextLine(): Promise<void> {
    return new Promise((settle) => {
      const report = () => {
        this.#onLine.delete(report);
        settle();
      };
      this.#onLine.add(report);
    });
  }

  #missing(pattern: RegExp, when: string): string {
    return `No line like ${pattern} from ${this.name} ${when}; its last words were:\n${this.#lastWords()}`;
  }

  #lastWords(): string {
    return this.#output.slice(-20).join('\n');
  }
}

/** Makes a shell kill the process group `pid` if this process ends before it has reported the end of the group. */
function reap(pid: number, ended: Promise<unknown>): void {
  const script = 'read -r _ || kill -s KILL -- "-$1"';
  const reaper = spawn('/bin/sh', ['-c', script, 'reaper', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  reaper.unref();
  reaper.stdin.on('error', () => {}); // the reaper itself was killed
  const dismiss = () => reaper.stdin.end('ended\n');
  ended.then(dismiss, dismiss);
}
