import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { requestHttps } from '#spec/support/https-request.ts';
import { startLiveApiServer } from '#spec/support/simulated-api-server.ts';
import { ControlPlane } from '../control-plane/control-plane.ts';
import { needBinaries } from '../control-plane/need-binaries.ts';
import { type ExpectedDifferences, expectedDifferences } from './expected-differences.ts';
import type { RequestStep, SendRequest, StepResult } from './request-step.ts';
import { runSteps } from './run-steps.ts';
import { DEFINE, STEPS } from './steps.ts';

describe("the simulator's API server, beside a real one", function () {
  this.timeout(180_000);

  let real: ReadonlyMap<string, StepResult>;
  let simulated: ReadonlyMap<string, StepResult>;
  let existing: ExpectedDifferences;

  before(async () => {
    const binaries = await needBinaries();
    await using controlPlane = await ControlPlane.start({ ...binaries, controllerManager: undefined });
    const { minor: kubernetesMinor } = controlPlane;
    existing = expectedDifferences(kubernetesMinor);
    await using server = await startLiveApiServer({
      scenario: { kubernetesMinor },
    });
    const { admin, serverCa } = server.cluster.pki;
    const simulator = sender(server.cluster.server, { ...admin, caPem: serverCa.certificatePem });
    const theirs = controlPlane.pki;
    const kubernetes = sender(controlPlane.server, {
      ...theirs.admin,
      caPem: theirs.serverCa.certificatePem,
    });
    const variables = { hpaVersion: controlPlane.hpaVersion.replace('autoscaling/', '') };
    [real, simulated] = await Promise.all([
      runSteps(await defined(kubernetes), kubernetes, variables),
      runSteps(await defined(simulator), simulator, variables),
    ]);
  });

  it('sends the same responses, except for known differences', () => {
    const different = STEPS.filter(({ name }) => !isDeepStrictEqual(simulated.get(name), real.get(name)));
    for (const { name } of different.filter(({ name }) => !existing.reasons.has(name)))
      expect(simulated.get(name), name).to.deep.equal(real.get(name));
    expect(different.map(({ name }) => name)).to.have.members([...existing.reasons.keys()]);
  });

  it('accepts and refuses the same requests, with the same status', () => {
    for (const { name } of STEPS.filter(({ name }) => !existing.otherStatus.has(name)))
      expect(simulated.get(name)?.status, name).to.equal(real.get(name)?.status);
  });
});

/** Creates the definition, and returns the other steps when its kind is served. */
async function defined(send: SendRequest): Promise<readonly RequestStep[]> {
  await runSteps([DEFINE], send);
  const served = {
    name: 'served',
    method: 'GET',
    path: '/apis/example.com/v1/namespaces/default/widgets',
  } as const;
  for (;;) {
    const result = (await runSteps([served], send)).get('served');
    if (result?.status === 200) break;
    await sleep(100);
  }
  await sleep(2_000); // at first the API server still returns 404 for some requests
  return STEPS;
}

function sender(
  server: string,
  {
    certificatePem: cert,
    privateKeyPem: key,
    caPem: ca,
  }: { certificatePem: string; privateKeyPem: string; caPem: string },
): SendRequest {
  return async ({ method, path, body, headers }) => {
    const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) };
    const options = {
      ca,
      cert,
      key,
      method,
      headers: { ...headers, ...length },
      ...(body !== undefined && { body }),
    };
    return await requestHttps(`${server}${path}`, options);
  };
}
