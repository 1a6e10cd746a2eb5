import { expect } from 'chai';
import type { AuditEvent } from '../control-plane/audit-log.ts';
import { openWatches, redundantRequests } from './redundant-requests.ts';

/** Audit events of a request for pods, with times in milliseconds. A request without an end is still open. */
function request(verb: string, [from, to]: readonly [number, number?], status = 200): readonly AuditEvent[] {
  const started = {
    ...{ id: `${verb} ${from}`, user: 'a', verb, resource: 'pods', namespace: undefined, name: undefined },
    ...{ status, receivedAtMs: from, reachedAtMs: from, isComplete: false },
  };
  return to === undefined ? [started] : [started, { ...started, reachedAtMs: to, isComplete: true }];
}

const LIST = request('list', [1, 2]);

describe('redundantRequests', () => {
  const cases: readonly (readonly [string, readonly (readonly AuditEvent[])[], string?])[] = [
    ['a list and a watch', [LIST, request('watch', [3])]],
    [
      'a watch that begins before the end of the list is logged',
      [request('list', [1, 3]), request('watch', [2])],
    ],
    ['a list after a refused one', [request('list', [0, 1], 429), LIST, request('watch', [3])]],
    ['a watch after one that ended', [LIST, request('watch', [3, 4]), request('watch', [4])]],
    ['a list after a watch that ended', [LIST, request('watch', [3, 4]), request('list', [5, 6])]],
    ['a list after a refused watch', [LIST, request('watch', [3, 4], 410), request('list', [5, 6])]],
    ['a list of another resource', [LIST, LIST.map((one) => ({ ...one, id: 'b', resource: 'nodes' }))]],
    ['a second list', [LIST, request('list', [3, 4])], 'it was listed already'],
    [
      'a second list while the first goes on',
      [request('list', [1, 4]), request('list', [3, 5])],
      'a list has not ended',
    ],
    [
      'a second list beside a refused one',
      [request('list', [1, 4], 429), request('list', [3, 5])],
      'a list has not ended',
    ],
    ['a second watch', [LIST, request('watch', [3]), request('watch', [4])], 'a watch is open'],
    [
      'a second watch beside one that ended later',
      [LIST, request('watch', [3, 5]), request('watch', [4])],
      'a watch is open',
    ],
    ['a list beside a watch', [LIST, request('watch', [3]), request('list', [4, 5])], 'a watch is open'],
  ];
  for (const [name, requests, reason] of cases) {
    it(`${reason === undefined ? 'accepts' : 'reports'} ${name}`, () => {
      const reported = redundantRequests(requests.flat());
      expect(reported).to.have.lengthOf(reason === undefined ? 0 : 1);
      if (reason !== undefined) expect(reported[0]).to.match(new RegExp(`of pods at .*: ${reason}$`));
    });
  }

  it('ignores requests other than lists and watches', () => {
    expect(redundantRequests([request('get', [1, 4]), request('get', [2, 3])].flat())).to.deep.equal([]);
  });
});

describe('openWatches', () => {
  it('returns the resource of each watch that was open at that time', () => {
    const events = [LIST, request('watch', [3, 5]), request('watch', [5, 7]), request('watch', [6])].flat();
    expect(openWatches(events, 2)).to.deep.equal([]);
    expect(openWatches(events, 4)).to.deep.equal(['pods']);
    expect(openWatches(events, 5)).to.deep.equal(['pods']);
    expect(openWatches(events, 6)).to.deep.equal(['pods', 'pods']);
    expect(openWatches(events, 7)).to.deep.equal(['pods']);
  });
});
