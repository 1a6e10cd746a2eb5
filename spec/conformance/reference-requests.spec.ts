import { expect } from 'chai';
import { type ComparableResponse, comparable } from './comparable-response.ts';
import { type Aspect, isMeant, readDocumentedDifferences } from './documented-differences.ts';
import { CONTAINER_ORDERS } from './recorded-cluster.ts';
import { type Recording, readRecordings } from './recording.ts';
import { type Replay, startReplay } from './replay.ts';

describe('the responses recorded from the reference', () => {
  const recordings = readRecordings();
  const differences = readDocumentedDifferences();
  let replay: Replay;

  before(async () => {
    replay = await startReplay();
  });
  after(() => replay?.[Symbol.asyncDispose]());

  for (const recording of recordings) {
    const differing = new Set(
      differences
        .filter(({ recordings: patterns }) => patterns.some((pattern) => isMeant(pattern, recording.name)))
        .flatMap(({ aspects }) => aspects),
    );
    it(`equal ours: ${recording.name}`, async () => {
      const [ours, theirs] = await nearestResponses(replay, recording);
      expect(without(ours, differing)).to.deep.equal(without(theirs, differing));
      for (const aspect of differing) {
        expect(ours[aspect], `${aspect} is documented to differ`).not.to.deep.equal(theirs[aspect]);
      }
    });
  }

  it('include every recording that the table of differences names', () => {
    const patterns = differences.flatMap((difference) => difference.recordings);
    expect(
      patterns.filter((pattern) => !recordings.some(({ name }) => isMeant(pattern, name))),
    ).to.deep.equal([]);
  });
});

/** Our response and the recorded one, with the order of containers that matches best. */
async function nearestResponses(
  replay: Replay,
  recording: Recording,
): Promise<[ComparableResponse, ComparableResponse]> {
  const theirs = comparable(recording.response);
  let ours = comparable(await replay.request(recording, 0));
  for (let order = 1; order < CONTAINER_ORDERS && ours.body !== theirs.body; order++) {
    const other = comparable(await replay.request(recording, order));
    if (other.body === theirs.body) ours = other;
  }
  return [ours, theirs];
}

function without(response: ComparableResponse, aspects: ReadonlySet<Aspect>): Partial<ComparableResponse> {
  return Object.fromEntries(Object.entries(response).filter(([key]) => !aspects.has(key as Aspect)));
}
