import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { expectedDifferences } from '#spec/acceptance/simulator/expected-differences.ts';

describe('the known differences of the simulator', () => {
  it('are counted in docs/reference/compatibility.md', async () => {
    const page = await readFile('docs/reference/compatibility.md', 'utf8');
    const [old, recent] = [20, 36].map((minor) => expectedDifferences(minor).reasons.size);
    expect(page).to.include(
      `| known differences between simulator and API server | ${old}, with reasons | ${recent}, with reasons |`,
    );
  });
});
