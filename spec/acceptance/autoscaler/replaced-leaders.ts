import { setTimeout as sleep } from 'node:timers/promises';
import type { SpawnedProgram } from '#spec/support/spawned-program.ts';
import type { InstalledAutoscaler } from './installed-autoscaler.ts';

/** The shortest durations that replicas can meet on a loaded machine. */
const SHORT_LEASE = [
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];
const ELECTED_WITHIN_MS = 120_000;

/** Runs two replicas of the installed autoscaler, and replaces each killed leader with a new replica. */
export class ReplacedLeaders {
  readonly #installed: InstalledAutoscaler;
  readonly #replicas = new Set<SpawnedProgram>();
  #killed = 0;

  constructor(installed: InstalledAutoscaler) {
    this.#installed = installed;
  }

  /** Number of leaders killed. */
  get killed(): number {
    return this.#killed;
  }

  async start(): Promise<void> {
    await Promise.all([this.#startOne(), this.#startOne()]);
  }

  /** Sends SIGKILL to the leader, as soon as there is one, and waits until two replicas run again. */
  async killLeader(): Promise<void> {
    const leader = await this.leader();
    leader.kill('SIGKILL');
    await leader.ended;
    this.#replicas.delete(leader);
    this.#killed++;
    await this.#startOne();
  }

  /** @throws Error when no replica leads in time */
  async leader(): Promise<SpawnedProgram> {
    const deadlineMs = Date.now() + ELECTED_WITHIN_MS;
    for (;;) {
      const leader = [...this.#replicas].find(isLeading);
      if (leader) return leader;
      if (Date.now() > deadlineMs) throw new Error(`Nobody leads\n${this.words()}`);
      await sleep(50);
    }
  }

  /** Last output of the replicas. */
  words(): string {
    return [...this.#replicas].flatMap(({ name, output }) => [name, ...output.slice(-10)]).join('\n');
  }

  async #startOne(): Promise<void> {
    const replica = await this.#installed.startReplica(SHORT_LEASE);
    this.#replicas.add(replica);
    await replica.line(/Serving/, 60_000);
  }
}

/** Whether the replica's last log line about the lease reports that it holds the lease. */
function isLeading({ output }: SpawnedProgram): boolean {
  const message = output.findLast((line) => /Elected leader|Stopped leading/.test(line));
  return message?.includes('Elected leader') ?? false;
}
