import { Gauge, type Registry } from 'prom-client';
import type { LeaderElection } from './leader-election.ts';

/** Which election is told of, and where. */
export interface LeaderElectionSeriesOptions {
  readonly registry: Registry;
  /** Of the lease. */
  readonly name: string;
  readonly election: Pick<LeaderElection, 'isLeader'>;
}

/** Adds `leader_election_master_status` of Kubernetes: 1 while this process may act, else 0, as of each scrape. */
export function addLeaderElectionSeries({ registry, name, election }: LeaderElectionSeriesOptions): void {
  new Gauge({
    name: 'leader_election_master_status',
    help: 'Whether this process leads: 1 for the one that holds the lease of that name, 0 for those that stand by',
    labelNames: ['name'],
    registers: [registry],
    collect() {
      this.set({ name }, election.isLeader ? 1 : 0);
    },
  });
}
