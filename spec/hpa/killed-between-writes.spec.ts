import { expect } from 'chai';
import type { ApiFault } from '#simulator/api-server/faults.ts';
import { ApiError } from '#simulator/api-server/status.ts';
import { PATHS, startHpaCluster } from '#spec/support/hpa-cluster.ts';

/** Load rises, falls, and stays low, for 15 s each. */
const LOADS = ['20', '60', '80', '30', ...Array.from({ length: 14 }, () => '10')];

type Moment = 'before the scale' | 'after the scale';

describe('hpaController killed between its writes', () => {
  let expected: Awaited<ReturnType<typeof play>>;

  before(async () => {
    expected = await play();
    expect(expected.replicas.at(2)).to.equal(8);
    expect(expected.replicas.at(-1)).to.be.lessThan(5);
    expect(expected.writes).to.be.greaterThan(4);
  });

  for (const moment of ['before the scale', 'after the scale'] as const) {
    // The first two scale up, the others down.
    for (const write of [0, 1, 2, 4]) {
      it(`decides the same with the next leader when killed as ${moment} is written, at change ${write + 1}`, async () => {
        const { replicas, status, memoryAtDeath } = await play({ moment, write });
        expect(memoryAtDeath).to.contain('"intent":'); // the intent was persisted before the write
        expect(replicas).to.deep.equal(expected.replicas);
        expect(status).to.deep.equal(expected.status);
      });
    }
  }

  /** Plays the loads; the leader is killed at its n-th write of the scale. */
  async function play(killed?: { readonly moment: Moment; readonly write: number }) {
    await using cluster = await startHpaCluster();
    await cluster.deployment('web', 2);
    // No time is a multiple of the period: the next leader decides a second later than the killed one.
    const policies = (value: number, periodSeconds: number) => [{ type: 'Pods', value, periodSeconds }];
    const behavior = {
      scaleUp: { policies: policies(4, 13) },
      scaleDown: { stabilizationWindowSeconds: 67, policies: policies(2, 52) },
    };
    await cluster.hpa('web', { spec: { behavior } });
    cluster.queue('web', LOADS[0] ?? '');
    const { fault, observed } = killingFault(killed);
    cluster.setFaults(fault);
    await cluster.lead();
    const replicas: number[] = [];
    let memoryAtDeath = '';
    for (const load of LOADS) {
      cluster.queue('web', load);
      for (let second = 0; second < 15; second++) {
        await cluster.elapse(1);
        if (!observed.isDead) continue;
        await cluster.stop();
        memoryAtDeath = (await cluster.api.get(PATHS.memory)).body.data.web;
        observed.isDead = false;
        await cluster.lead();
      }
      replicas.push(await cluster.replicas('web'));
    }
    const { currentReplicas, desiredReplicas, conditions } = (await cluster.get('web')).status;
    const reasons = conditions.map(({ reason }: { reason: string }) => reason);
    return {
      ...{ replicas, memoryAtDeath, writes: observed.writes },
      status: { currentReplicas, desiredReplicas, reasons },
    };
  }
});

/** Rejects every write of a process from its death on. */
function killingFault(killed: { readonly moment: Moment; readonly write: number } | undefined) {
  const observed = { writes: 0, isDead: false };
  const refuse = () => {
    throw new ApiError(500, 'InternalError', 'who writes is dead', {});
  };
  const fault: ApiFault = {
    async serve({ verb, target }, context) {
      if (['get', 'list', 'watch'].includes(verb)) return await context.next();
      if (observed.isDead) return refuse();
      if (!target.isResource || target.subresource !== 'scale') return await context.next();
      const isMeant = observed.writes++ === killed?.write;
      if (isMeant) observed.isDead = true;
      if (isMeant && killed?.moment === 'before the scale') return refuse();
      await context.next();
    },
  };
  return { fault, observed };
}
