import { expect } from 'chai';
import { parseQuery } from '#lib/apiserver/http/query-values.ts';
import { StatusError } from '#lib/apiserver/http/status-error.ts';
import { parseListOptions, validateListOptions } from '#lib/apiserver/resources/list-options.ts';

describe('validateListOptions', () => {
  const valid = [
    '',
    'resourceVersion=5',
    'resourceVersion=5&resourceVersionMatch=Exact',
    'resourceVersion=0&resourceVersionMatch=NotOlderThan',
    'watch=1',
  ];
  for (const query of valid) {
    it(`accepts ?${query}`, () => expect(() => validate(query)).not.to.throw());
  }

  const errors: readonly [string, readonly [string, string][]][] = [
    [
      'resourceVersionMatch=Exact',
      [
        [
          'resourceVersionMatch',
          'Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
        ],
      ],
    ],
    [
      'resourceVersion=0&resourceVersionMatch=Exact',
      [
        [
          'resourceVersionMatch',
          'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ],
      ],
    ],
    [
      'resourceVersion=1&resourceVersionMatch=Newest&continue=x',
      [
        ['resourceVersionMatch', 'Forbidden: resourceVersionMatch is forbidden when continue is provided'],
        [
          'resourceVersionMatch',
          'Unsupported value: "Newest": supported values: "Exact", "NotOlderThan", ""',
        ],
      ],
    ],
    [
      'sendInitialEvents=false',
      [['sendInitialEvents', 'Forbidden: sendInitialEvents is forbidden for list']],
    ],
    [
      'watch=1&sendInitialEvents=true',
      [
        [
          'resourceVersionMatch',
          'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
        ],
        [
          'sendInitialEvents',
          'Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
        ],
      ],
    ],
    [
      'watch=1&resourceVersionMatch=Exact',
      [
        [
          'resourceVersionMatch',
          'Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
        ],
        ['resourceVersionMatch', 'Unsupported value: "Exact": supported values: "NotOlderThan"'],
      ],
    ],
  ];
  for (const [query, expected] of errors) {
    it(`refuses ?${query}, each error with its field`, () => {
      const error = caught(() => validate(query));
      expect(error).to.include({ code: 422, reason: 'Invalid' });
      expect(error.details?.causes?.map(({ field, message }) => [field, message])).to.deep.equal(expected);
    });
  }

  it('formats a single error as it is, and several as a list', () => {
    expect(caught(() => validate('sendInitialEvents=1')).message).to.equal(
      'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
    );
    expect(caught(() => validate('resourceVersionMatch=Exact&sendInitialEvents=1')).message).to.match(
      /is invalid: \[resourceVersionMatch: Forbidden: .*, sendInitialEvents: Forbidden: .*\]$/,
    );
  });

  it('lets watches begin with the existing objects where that is enabled', () => {
    const query = 'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
    expect(() => validate(query)).to.throw('WatchList');
    expect(() => validate(query, true)).not.to.throw();
  });
});

function validate(query: string, isWatchListEnabled = false): void {
  validateListOptions(parseListOptions(parseQuery(query)), { isWatchListEnabled });
}

function caught(act: () => void): StatusError {
  try {
    act();
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
