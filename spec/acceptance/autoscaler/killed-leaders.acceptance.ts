import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { needControllers } from '../control-plane/need-binaries.ts';
import { InstalledAutoscaler } from './installed-autoscaler.ts';
import { ReplacedLeaders } from './replaced-leaders.ts';
import { cronHpa, deployment, horizontalPodAutoscaler } from './scheduled-objects.ts';

/** Three Deployments that are scaled directly, and two that are scaled through HPAs. */
const BARE = ['web', 'api', 'mail'];
const WITH_HPA = ['shop', 'search'];
const NAMES = [...BARE, ...WITH_HPA];
/** Target sizes for each Deployment, one job each. */
const SIZES = [2, 3, 4, 5];
/** Interval between activations of all objects; `KILL_EVERY` sets it in seconds, with 30 for a long run. */
const KILL_EVERY_MS = Number(process.env.KILL_EVERY ?? 6) * 1000;
const FIRST_AFTER_MS = 15_000;

const ACCOUNT = 'system:serviceaccount:kube-system:autoscaler';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const HPAS = '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers';
const CRON_HPAS = '/apis/autoscaling.stke.com/v1beta1/namespaces/default/cronhorizontalpodautoscalers';

interface Sized {
  readonly spec: { readonly replicas?: number; readonly minReplicas?: number };
}

interface CronHpas {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status?: {
      readonly conditions?: readonly { readonly name?: string; readonly state?: string }[];
    };
  }[];
}

describe('Cron-HPA on a real API server, while its leader is killed repeatedly', function () {
  const activations = NAMES.length * SIZES.length;
  this.timeout(600_000 + activations * KILL_EVERY_MS);

  let installed: InstalledAutoscaler;

  before(async function () {
    installed = await InstalledAutoscaler.start(await needControllers(this));
  });

  after(() => installed?.[Symbol.asyncDispose]());

  it('carries out each of 20 activations exactly once, those of one object 30 s apart', async () => {
    expect(activations).to.equal(20);
    expect(KILL_EVERY_MS * NAMES.length).to.be.at.least(30_000);
    await installed.apply(
      ...BARE.map((name) => deployment(name, 0)),
      ...WITH_HPA.flatMap((name) => [deployment(name, 1), horizontalPodAutoscaler(name, 1, 10)]),
    );
    const leaders = new ReplacedLeaders(installed);
    await leaders.start();
    const firstMs = Date.now() + FIRST_AFTER_MS;
    const dueMs = (index: number) => firstMs + index * KILL_EVERY_MS;
    await installed.apply(
      ...NAMES.map((name, place) =>
        cronHpa(
          name,
          SIZES.map((size, round) => ({ size, atMs: dueMs(round * NAMES.length + place) })),
        ),
      ),
    );

    const watching = takeBack(leaders);
    let killing = Promise.resolve();
    for (let index = 0; index < activations; index++) {
      const offsetMs = ((index * 37) % 400) - 200; // before, during and just after the activation
      const waitMs = dueMs(index) + offsetMs - Date.now();
      if (waitMs < 0) continue; // skips a kill on a slow machine, where the replacement is still starting
      await sleep(waitMs);
      killing = leaders.killLeader();
      await Promise.race([killing, watching]);
    }
    await Promise.all([killing, watching]);
    await leaders.leader();
    await sleep(5_000); // time for the current leader to do what it must not
    expect(leaders.killed).to.be.above(activations / 10); // all of them if a replica starts within 6 s

    const written = await writes();
    for (const name of NAMES) {
      expect(written.get(name), name).to.equal(SIZES.length);
      const { spec } = await sized(name);
      expect(BARE.includes(name) ? spec.replicas : spec.minReplicas, name).to.equal(min(name));
    }
  });

  /**
   * Resets each size after its activation is reported, so that a repeated activation causes an extra write. Returns
   * when all sizes have been set.
   *
   * @throws Error when a reported activation was not executed, or an activation is not reported in time
   */
  async function takeBack(leaders: ReplacedLeaders): Promise<void> {
    const left = new Map(NAMES.map((name) => [name, [...SIZES]]));
    const deadlineMs = Date.now() + FIRST_AFTER_MS + activations * KILL_EVERY_MS + 120_000;
    while ([...left.values()].some(({ length }) => length > 0)) {
      if (Date.now() > deadlineMs)
        throw new Error(`Never carried out: ${JSON.stringify([...left])}\n${leaders.words()}`);
      const { items } = await installed.controlPlane.client
        .get<CronHpas>(CRON_HPAS)
        .catch((): CronHpas => ({ items: [] })); // a suspended machine may miss the timeout: poll again
      for (const { metadata, status } of items) {
        const sizes = left.get(metadata.name) ?? [];
        const job = status?.conditions?.find((one) => one.name === `to-${sizes[0]}`);
        if (job?.state === 'Succeed') await takeBackOne(metadata.name, sizes.shift());
      }
      await sleep(200);
    }
  }

  async function takeBackOne(name: string, size: number | undefined): Promise<void> {
    const { spec } = await sized(name);
    const isBare = BARE.includes(name);
    expect(isBare ? spec.replicas : spec.minReplicas, name).to.equal(size);
    const field = isBare ? 'replicas' : 'minReplicas';
    await installed.controlPlane.client.patch(pathOf(name), { spec: { [field]: min(name) } });
  }

  /** Number of times the autoscaler has set each size. */
  async function writes(): Promise<ReadonlyMap<string, number>> {
    const counted = new Map<string, number>();
    for (const { user, verb, resource, status, name = '' } of await installed.controlPlane.auditEvents()) {
      const isSet =
        (verb === 'update' && resource === 'deployments/scale.apps') ||
        (verb === 'patch' && resource === 'horizontalpodautoscalers.autoscaling');
      if (user === ACCOUNT && isSet && status < 300) counted.set(name, (counted.get(name) ?? 0) + 1);
    }
    return counted;
  }

  function pathOf(name: string): string {
    return `${BARE.includes(name) ? DEPLOYMENTS : HPAS}/${name}`;
  }

  function min(name: string): number {
    return BARE.includes(name) ? 0 : 1;
  }

  async function sized(name: string): Promise<Sized> {
    return await installed.controlPlane.client.get<Sized>(pathOf(name));
  }
});
