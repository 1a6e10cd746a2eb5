import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { startAutoscaler } from '#lib/autoscaler/autoscaler.ts';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import { versionInfo } from '#lib/program.ts';
import { eventually } from '#spec/support/eventually.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { hpaObject, podsMetric } from '#spec/support/scaled-hpas.ts';
import { startLiveApiServer } from '#spec/support/simulated-api-server.ts';

const DEFINITIONS = [
  'crds/cron-horizontal-pod-autoscaler',
  'crds/keda/scaled-object',
  'crds/keda/scaled-job',
  'crds/keda/trigger-authentication',
  'crds/keda/cluster-trigger-authentication',
  'components/scaling-schedule/scaling-schedule',
  'components/scaling-schedule/cluster-scaling-schedule',
];
/** Cached resources while an HPA has a Deployment as its target, and a Pods metric. */
const CACHED = [
  ...['clusterscalingschedules', 'clustertriggerauthentications', 'cronhorizontalpodautoscalers'],
  ...['deployments', 'horizontalpodautoscalers', 'pods', 'scaledjobs', 'scaledobjects', 'scalingschedules'],
  ...['statefulsets', 'triggerauthentications'],
];
const EVERYTHING = ['--controllers=*,hpa', '--scaling-schedule', '--prometheus-server='];

describe('startAutoscaler with all controllers', () => {
  it('lists each resource once, and has one watch of each', async () => {
    const definitions = DEFINITIONS.map((name) => parse(readFileSync(`manifests/${name}.yaml`, 'utf8')));
    await using server = await startLiveApiServer({ definitions });
    const { client, cluster, clock } = server;
    await client.post('/apis/apps/v1/namespaces/default/deployments', DEPLOYMENT);
    const annotations = { 'metric-config.pods.rps.json-path/json-key': '$.rps' };
    const hpa = hpaObject({ annotations, metrics: [podsMetric('rps')] });
    const created = await client.post(
      '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
      hpa,
    );
    expect(created.status).to.equal(201);
    const requests: string[] = [];
    cluster.apiServer.setFaults({
      serve: ({ verb, target }, { next }) => {
        // Only watches of a whole resource: a controller may list in one namespace.
        if (target.isResource && target.namespace === undefined && (verb === 'list' || verb === 'watch'))
          requests.push(`${verb} ${target.resource}`);
        return next();
      },
    });
    const commandLine = parseAutoscalerOptions([
      ...['--bind-address=127.0.0.1', '--secure-port=0', ...EVERYTHING],
      `--cert-dir=${join(dirname(server.kubeconfig), 'serving')}`,
    ]);
    if (commandLine.kind !== 'run') throw new Error('these flags run it');
    await using _autoscaler = await startAutoscaler(commandLine.options, {
      ...{ access: await server.access(), clock, logger: new RecordingLogger(), identity: 'a' },
      version: versionInfo(process),
    });
    await eventually(() => CACHED.every((resource) => requests.includes(`watch ${resource}`)));
    expect(requests.toSorted()).to.deep.equal(
      ['list', 'watch'].flatMap((verb) => CACHED.map((resource) => `${verb} ${resource}`)),
    );
  });
});

const DEPLOYMENT = {
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
  },
};
