import { expect } from 'chai';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const PATH = '/api/v1/namespaces/default/configmaps';

describe('writeManagedFields', () => {
  it("has the time of the manager's last change, not of other managers' changes that took its fields", async () => {
    const clock = new ManualClock(Date.parse('2026-07-15T08:00:00Z'));
    await using server = await startSimulatedApiServer({ clock });
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    await server.client.apply(`${PATH}/a`, { ...configMap, data: { x: '1', y: '1' } }, { manager: 'first' });
    await clock.advance(10_000);
    const second = { manager: 'second', force: true };
    await server.client.apply(`${PATH}/a`, { ...configMap, data: { x: '2' } }, second);
    expect(await times(server)).to.deep.equal(['first 08:00:00', 'second 08:00:10']);
    await clock.advance(10_000);
    await server.client.apply(`${PATH}/a`, { ...configMap, data: { x: '2' } }, second); // changes nothing
    expect(await times(server)).to.deep.equal(['first 08:00:00', 'second 08:00:10']);
    await server.client.apply(`${PATH}/a`, { ...configMap, data: { x: '3' } }, second); // another value, the same fields
    expect(await times(server)).to.deep.equal(['first 08:00:00', 'second 08:00:20']);
  });

  it('has a new time for an update of the same field', async () => {
    const clock = new ManualClock(Date.parse('2026-07-15T08:00:00Z'));
    await using server = await startSimulatedApiServer({ clock });
    await server.client.post(PATH, { metadata: { name: 'a' }, data: { x: '1' } });
    await clock.advance(10_000);
    await server.client.patch(`${PATH}/a`, 'merge', { data: { x: '1' } });
    expect((await times(server)).map(timeOf)).to.deep.equal(['08:00:00']);
    await server.client.patch(`${PATH}/a`, 'merge', { data: { x: '2' } });
    expect((await times(server)).map(timeOf)).to.deep.equal(['08:00:10']);
  });
});

async function times(server: SimulatedApiServer): Promise<string[]> {
  const { body } = await server.client.get(`${PATH}/a`);
  return body.metadata.managedFields
    .map(({ manager, time }: { manager: string; time: string }) => `${manager} ${time.slice(11, 19)}`)
    .sort();
}

function timeOf(reported: string): string {
  return reported.slice(reported.lastIndexOf(' ') + 1);
}
