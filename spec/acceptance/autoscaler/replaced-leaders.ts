import { setTimeout as sleep } from 'node:timers/promises';
import type { SpawnedProgram } from '#spec/support/spawned-program.ts';
import type { InstalledAutoscaler } from './installed-autoscaler.ts';

/** As short as replicas on a loaded machine can keep to. */
const SHORT_LEASE = [
  '--leader-elect-lease-duration=3s',
  '--leader-elect-renew-deadline=2s',
  '--leader-elect-retry-period=500ms',
];
const ELECTED_WITHIN_MS = 120_000;

/** Two replicas of the installed autoscaler; for each leader that is killed another replica starts. */
export class ReplacedLeaders {
  readonly #installed: InstalledAutoscaler;
  readonly #replicas = new Set<SpawnedProgram>();
  #killed = 0;

  constructor(installed: InstalledAutoscaler) {
    this.#installed = installed;
  }

  /** How many leaders were killed. */
  get killed(): number {
    return this.#killed;
  }

  async start(): Promise<void> {
    await Promise.all([this.#startOne(), this.#startOne()]);
  }

  /** Kills the replica that acts, once there is one, by SIGKILL; comes back when there are two again. */
  async killLeader(): Promise<void> {
    const leader = await this.leader();
    leader.kill('SIGKILL');
    await leader.ended;
    this.#replicas.delete(leader);
    this.#killed++;
    await this.#startOne();
  }

  /** @throws where none leads for long */
  async leader(): Promise<SpawnedProgram> {
    const deadlineMs = Date.now() + ELECTED_WITHIN_MS;
    for (;;) {
      const leader = [...this.#replicas].find(isLeading);
      if (leader) return leader;
      if (Date.now() > deadlineMs) throw new Error(`Nobody leads\n${this.words()}`);
      await sleep(50);
    }
  }

  /** What the replicas said last. */
  words(): string {
    return [...this.#replicas].flatMap(({ name, output }) => [name, ...output.slice(-10)]).join('\n');
  }

  async #startOne(): Promise<void> {
    const replica = await this.#installed.startReplica(SHORT_LEASE);
    this.#replicas.add(replica);
    await replica.line(/Serving/, 60_000);
  }
}

/** Whether the last that a replica said of the lease is that it has it. */
function isLeading({ output }: SpawnedProgram): boolean {
  const said = output.findLast((line) => /Elected leader|Stopped leading/.test(line));
  return said?.includes('Elected leader') ?? false;
}
