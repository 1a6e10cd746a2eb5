import { expect } from 'chai';
import type { HostileRun } from './watch-hostile-server.ts';

const MAX_GROWTH_BYTES = 3 * 2 ** 20;

/** Asserts that no change was lost or reverted, and that memory did not grow. */
export function expectInSync({ server, memoryBytes: [early, late], ...run }: HostileRun): void {
  expect(run.steppedBack).to.deep.equal([]);
  expect(run.overlapping).to.deep.equal([]);
  expect([...run.reconciled].sort()).to.deep.equal([...server.live].sort());
  expect(run.lateLists).to.equal(0);
  expect(late - early).to.be.below(MAX_GROWTH_BYTES);
}
