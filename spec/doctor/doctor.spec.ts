import { expect } from 'chai';
import { type Check, type Finding, failedBy, ok } from '#lib/doctor/check.ts';
import { ClusterContext, MissingPermission } from '#lib/doctor/cluster-context.ts';
import { type CheckResult, runChecks } from '#lib/doctor/doctor.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const failed = failedBy({ broken: { title: 'It is broken', remedy: 'Mend it.' } });

describe('runChecks', () => {
  const check = (name: string, run: () => readonly Finding[]): Check => ({
    name,
    title: name,
    run: async () => run(),
  });

  it('continues after a check that fails or throws, and reports what it throws', async () => {
    const { results, isSound } = await examine([
      check('first', () => [ok('a', 'is there')]),
      check('second', () => [failed('b', 'is broken', { diagnosis: 'broken' })]),
      check('third', () => {
        throw new MissingPermission('list pods', new Error('forbidden'));
      }),
      check('fourth', () => {
        throw new Error('the line went dead');
      }),
    ]);
    expect(isSound).to.equal(false);
    expect(results.map(({ name }) => name)).to.deep.equal(['first', 'second', 'third', 'fourth']);
    expect(results[2]?.findings).to.deep.equal([
      {
        status: 'unchecked',
        subject: 'third',
        seen: 'the permission to list pods is missing',
        missingPermission: 'list pods',
      },
    ]);
    expect(results[3]?.findings).to.deep.equal([
      { status: 'unchecked', subject: 'fourth', seen: 'the line went dead' },
    ]);
  });

  it('stops if the first check fails', async () => {
    const { results, isSound } = await examine([
      check('first', () => [failed('a', 'is broken', { diagnosis: 'broken' })]),
      check('second', () => [ok('b', 'is there')]),
    ]);
    expect([results.length, isSound]).to.deep.equal([1, false]);
  });

  it('does not count a check that cannot run as a failure', async () => {
    const { isSound } = await examine([
      check('first', () => {
        throw new Error('the line went dead');
      }),
      check('second', () => [ok('b', 'is there')]),
    ]);
    expect(isSound).to.equal(true);
  });
});

async function examine(checks: readonly Check[]) {
  await using server = await startSimulatedApiServer();
  const { clock } = server;
  const access = await server.access();
  await using client = new ApiClient({ access, clock, userAgent: 'spec' });
  const { signal } = new AbortController();
  const context = new ClusterContext({ access, client, clock, signal, serverAccount: undefined });
  const results: CheckResult[] = [];
  const isSound = await runChecks(checks, context, (result) => void results.push(result));
  return { results, isSound };
}
