import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { startAutoscaler } from '#lib/autoscaler/autoscaler.ts';
import { parseAutoscalerOptions } from '#lib/autoscaler/options.ts';
import { concerning } from '#lib/simulator/api-server/faults/api-fault.ts';
import { refuseRequests } from '#lib/simulator/api-server/faults/refuse-requests.ts';
import { versionInfo } from '#lib/version.ts';
import { eventually } from '#spec/support/eventually.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { startLiveApiServer } from '#spec/support/simulated-api-server.ts';

const CRDS = ['scaled-object', 'scaled-job', 'trigger-authentication', 'cluster-trigger-authentication'];

describe('scaledObjectsPart', function () {
  this.timeout(60_000);

  it('is ready without permission for its kinds, and says so once', async () => {
    const definitions = CRDS.map((name) => parse(readFileSync(`manifests/crds/keda/${name}.yaml`, 'utf8')));
    await using server = await startLiveApiServer({ definitions });
    const forbidden = refuseRequests({ code: 403, reason: 'Forbidden' });
    server.cluster.apiServer.setFaults(concerning({ resource: 'scaledobjects' }, forbidden));
    const logger = new RecordingLogger();
    const commandLine = parseAutoscalerOptions([
      ...['--bind-address=127.0.0.1', '--secure-port=0', '--controllers=scaledobjects'],
      `--cert-dir=${join(dirname(server.kubeconfig), 'serving')}`,
    ]);
    if (commandLine.kind !== 'run') throw new Error('it does not run');
    const { clock } = server;
    await using autoscaler = await startAutoscaler(commandLine.options, {
      ...{ access: await server.access(), clock, logger, identity: 'a' },
      version: versionInfo(process),
    });
    const refusals = () =>
      logger.lines.filter(({ message }) => message === 'Waiting for permission to list objects');
    await eventually(() => refusals().length > 0);
    const url = `https://127.0.0.1:${autoscaler.address.port}/readyz`;
    const ready = async () => (await requestHttps(url, { rejectUnauthorized: false })).status;
    await eventually(async () => (await ready()) === 200);
    expect(refusals()).to.have.lengthOf(1);
  });
});
