import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { needControllers } from '../control-plane/need-binaries.ts';
import { InstalledAutoscaler } from './installed-autoscaler.ts';
import { deployment } from './scheduled-objects.ts';

const ACCOUNT = 'system:serviceaccount:kube-system:autoscaler';
/** What is cached while an HPA has a Deployment as its target. */
const CACHED = [
  'cronhorizontalpodautoscalers.autoscaling.stke.com',
  'deployments.apps',
  'horizontalpodautoscalers.autoscaling',
  'pods',
];
const MAX_LOOKS = 240;
const LOOK_EVERY_MS = 250;
/** A second list or watch would begin at once. */
const WATCHED_MS = 5_000;

describe('the informers of several controllers, by the audit log of a real API server', function () {
  this.timeout(180_000);

  it('list each resource once, and have one watch of each', async function () {
    await using installed = await InstalledAutoscaler.start(await needControllers(this), 'autoscaler-hpa');
    await installed.apply(deployment('web', 1));
    await installed.run('autoscale', 'deployment', 'web', '--min=1', '--max=3', '--cpu-percent=50');
    const program = await installed.startReplica(['--controllers=cronhpa,hpa']);
    await program.line(/Serving/, 60_000);
    const requests = async (verb: string) =>
      (await installed.controlPlane.auditEvents())
        .filter(
          ({ user, isComplete, namespace }) => user === ACCOUNT && isComplete && namespace === undefined,
        )
        .filter((event) => event.verb === verb)
        .map(({ resource }) => resource)
        .filter((resource) => CACHED.includes(resource))
        .toSorted();
    const includeAll = async (verb: string) => {
      for (let look = 0; look < MAX_LOOKS; look++) {
        const made = await requests(verb);
        if (CACHED.every((resource) => made.includes(resource))) return;
        await sleep(LOOK_EVERY_MS);
      }
    };
    await includeAll('list');
    await sleep(WATCHED_MS);
    await program[Symbol.asyncDispose](); // a watch is in the log when it ends
    await includeAll('watch');
    expect(await requests('list')).to.deep.equal(CACHED);
    expect(await requests('watch')).to.deep.equal(CACHED);
  });
});
