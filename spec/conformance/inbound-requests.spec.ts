import { expect } from 'chai';
import { readInboundRecordings } from './inbound-recording.ts';
import { type Replay, startReplay } from './replay.ts';

describe('recorded requests of API server, kubectl and autoscaler to the reference', () => {
  const recordings = readInboundRecordings();
  let replay: Replay;

  before(async () => {
    replay = await startReplay();
  });
  after(() => replay?.[Symbol.asyncDispose]());

  for (const recording of recordings) {
    it(`get the same response from us: ${recording.name}`, async () => {
      const { status, headers } = await replay.request(recording, 0);
      expect([status, headers['content-type']]).to.deep.equal([
        recording.response.status,
        recording.response.headers['content-type'],
      ]);
    });
  }

  it('are not empty', () => expect(recordings).to.have.lengthOf.above(40));
});
