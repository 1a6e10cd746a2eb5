import { expect } from 'chai';
import { Registry } from 'prom-client';
import { addLeaderElectionSeries } from '#lib/control/election/leader-election-series.ts';

describe('addLeaderElectionSeries', () => {
  it('tells at each scrape whether this process leads', async () => {
    const registry = new Registry();
    const election = { isLeader: false };
    addLeaderElectionSeries({ registry, name: 'autoscaler', election });
    expect(await registry.metrics()).to.contain('leader_election_master_status{name="autoscaler"} 0\n');
    election.isLeader = true;
    expect(await registry.metrics()).to.contain('leader_election_master_status{name="autoscaler"} 1\n');
  });
});
