import { expect } from 'chai';
import { comparable } from './comparable-response.ts';
import { unmeasuredCluster } from './recorded-cluster.ts';
import type { Recording } from './recording.ts';
import { HEALTHY, type Replay, startReplay } from './replay.ts';
import { readDegradedRecordings, readStartupRecordings } from './state-recording.ts';

// Later responses of the reference are replayed with the other recordings.
describe('the responses recorded from the reference', () => {
  describe('before it had metrics', () => {
    replayEach([...readStartupRecordings(0), ...readStartupRecordings(3)], false);
  });

  describe('with its first metrics', () => replayEach(readStartupRecordings(16), true));

  describe('while kubelets could not be scraped', () => replayEach(readDegradedRecordings(), true));
});

function replayEach(recordings: readonly Recording[], isReady: boolean): void {
  let replay: Replay;

  before(async () => {
    replay = await startReplay(unmeasuredCluster, { ...HEALTHY, sink: { isReady } });
  });
  after(() => replay?.[Symbol.asyncDispose]());

  for (const recording of recordings) {
    it(`equal ours: ${recording.name}`, async () => {
      expect(comparable(await replay.request(recording, 0))).to.deep.equal(comparable(recording.response));
    });
  }
}
