import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { needControllers } from '../control-plane/need-binaries.ts';
import { InstalledAutoscaler } from './installed-autoscaler.ts';
import { podsMetric, scaledByMetrics } from './scaled-by-metrics.ts';
import { cronHpa, deployment } from './scheduled-objects.ts';

const ACCOUNT = 'system:serviceaccount:kube-system:autoscaler';
/** All that is cached, with objects of each controller. */
const CACHED = [
  ...['clusterscalingschedules.zalando.org', 'clustertriggerauthentications.keda.sh'],
  ...['cronhorizontalpodautoscalers.autoscaling.stke.com', 'deployments.apps'],
  ...['horizontalpodautoscalers.autoscaling', 'pods', 'scaledjobs.keda.sh', 'scaledobjects.keda.sh'],
  ...['scalingschedules.zalando.org', 'statefulsets.apps', 'triggerauthentications.keda.sh'],
];
const KEDA = 'manifests/components/scaled-objects';
const SCHEDULES = 'manifests/components/scaling-schedule';
const GRANTS = [
  ...[`${KEDA}/rbac.yaml`, `${KEDA}/keda-lease.yaml`],
  ...['scaling-schedule', 'cluster-scaling-schedule', 'rbac'].map((file) => `${SCHEDULES}/${file}.yaml`),
].map((file) => `--filename=${file}`);
const EVERYTHING = ['--controllers=*,hpa', '--scaling-schedule', '--prometheus-server='];
const MAX_LOOKS = 240;
const LOOK_EVERY_MS = 250;
/** A second list or watch would begin at once. */
const WATCHED_MS = 5_000;

describe('the informers of all controllers, by the audit log of a real API server', function () {
  this.timeout(240_000);

  it('list each resource once, and have one watch of each', async function () {
    await using installed = await InstalledAutoscaler.start(await needControllers(this), 'autoscaler-hpa');
    await installed.run('apply', '-k', 'manifests/crds/keda');
    await installed.run('apply', ...GRANTS);
    await installed.run('wait', '--for=condition=Established', 'crd', '--all');
    await installed.apply(
      ...['web', 'nights', 'mails'].map((name) => deployment(name, 1)),
      scaledByMetrics('web', {
        apiVersion: installed.controlPlane.hpaVersion,
        annotations: { 'metric-config.pods.rps.json-path/json-key': '$.rps' },
        metrics: [podsMetric('rps', { averageValue: '10' })],
      }),
      cronHpa('nights', [{ size: 2, atMs: Date.now() + 3_600_000 }]),
      SCALED_OBJECT,
    );
    const program = await installed.startReplica(EVERYTHING);
    await program.line(/Serving/, 60_000);
    const requests = async (verb: string) =>
      (await installed.controlPlane.auditEvents())
        .filter(
          ({ user, isComplete, namespace }) => user === ACCOUNT && isComplete && namespace === undefined,
        )
        .filter((event) => event.verb === verb)
        .map(({ resource }) => resource)
        .toSorted();
    const includeAll = async (verb: string) => {
      for (let look = 0; look < MAX_LOOKS; look++) {
        const made = await requests(verb);
        if (CACHED.every((resource) => made.includes(resource))) return;
        await sleep(LOOK_EVERY_MS);
      }
    };
    await includeAll('list');
    // The leader reconciles objects of each kind that has a controller.
    for (const object of ['scaledobjects/mails', 'cronhorizontalpodautoscalers/nights'])
      await installed.run('wait', '--for=condition=Ready', object, '--timeout=60s');
    await installed.run(
      'wait',
      '--for=condition=AbleToScale',
      `horizontalpodautoscalers.${installed.controlPlane.hpaVersion.replace('autoscaling/', '')}.autoscaling/web`,
      '--timeout=60s',
    );
    await sleep(WATCHED_MS);
    await program[Symbol.asyncDispose](); // a watch is in the log when it ends
    await includeAll('watch');
    expect(await requests('list')).to.deep.equal(CACHED);
    expect(await requests('watch')).to.deep.equal(CACHED);
  });
});

const SCALED_OBJECT = {
  apiVersion: 'keda.sh/v1alpha1',
  kind: 'ScaledObject',
  metadata: { name: 'mails', namespace: 'default' },
  spec: {
    scaleTargetRef: { name: 'mails' },
    minReplicaCount: 1,
    maxReplicaCount: 2,
    triggers: [
      {
        type: 'cron',
        metadata: { timezone: 'UTC', start: '0 0 * * *', end: '59 23 * * *', desiredReplicas: '2' },
      },
    ],
  },
};
