import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '#spec/support/eventually.ts';
import { needControllers } from '../control-plane/need-binaries.ts';
import { InstalledAutoscaler } from './installed-autoscaler.ts';
import { openWatches, redundantRequests } from './redundant-requests.ts';
import { podsMetric, scaledByMetrics } from './scaled-by-metrics.ts';
import { cronHpa, deployment } from './scheduled-objects.ts';

const ACCOUNT = 'system:serviceaccount:kube-system:autoscaler';
/** Everything that is cached, with objects for each controller. */
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
/** A redundant list or watch would start immediately. */
const WATCHED_MS = 5_000;

describe('the informers of all controllers, on a real API server', function () {
  this.timeout(240_000);

  it('share one list and one watch of each resource', async function () {
    await using installed = await InstalledAutoscaler.start(await needControllers(this), 'autoscaler-hpa');
    await installed.run('apply', '-k', 'manifests/crds/keda');
    await installed.run('apply', ...GRANTS);
    await installed.untilDefinitionsAreServed();
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
    await program.line(/Serving/, 90_000);
    const requests = async () =>
      (await installed.controlPlane.auditEvents()).filter(
        ({ user, namespace }) => user === ACCOUNT && namespace === undefined,
      );
    await eventually(async () => {
      const made = new Set((await requests()).map(({ verb, resource }) => `${verb} ${resource}`));
      return CACHED.every((resource) => made.has(`list ${resource}`));
    });
    // The leader reconciles one object of each kind that has a controller.
    for (const object of ['scaledobjects/mails', 'cronhorizontalpodautoscalers/nights'])
      await installed.run('wait', '--for=condition=Ready', object, '--timeout=60s');
    await installed.run(
      'wait',
      '--for=condition=AbleToScale',
      `horizontalpodautoscalers.${installed.controlPlane.hpaVersion.replace('autoscaling/', '')}.autoscaling/web`,
      '--timeout=60s',
    );
    await sleep(WATCHED_MS);
    const stoppedAtMs = Date.now();
    await program[Symbol.asyncDispose](); // a watch is logged when it ends
    const watched = async () => openWatches(await requests(), stoppedAtMs).toSorted();
    await eventually(async () => (await watched()).length >= CACHED.length).catch(() => {}); // compared below
    expect(await watched()).to.deep.equal(CACHED);
    expect(redundantRequests(await requests())).to.deep.equal([]);
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
