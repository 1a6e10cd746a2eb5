/** Settings of a collector, by their keys. */
export type Settings = Readonly<Record<string, string>>;

/** Settings that a collector must reject. */
export interface WrongSettings {
  readonly type: 'Pods' | 'Object' | 'External';
  readonly collector: string;
  /** Valid settings, to which wrong ones are added. */
  readonly good: Settings;
  /** By key: values, and their error message after the location. */
  readonly wrong: Readonly<Record<string, readonly (readonly [value: string, rule: string])[]>>;
  /** Incomplete settings, and the missing one in the message. */
  readonly missing: readonly (readonly [given: Settings, name: string])[];
}

type Rules = WrongSettings['wrong'][string];

const TEXT: Rules = [
  ['', 'must not be empty'],
  [' \n', 'must not be empty'],
];
const URLS: Rules = [
  ...['', 'p:90', '//host', 'ftp://me:secret@host', 'file:///etc/passwd'].map(
    (url) => [url, 'must be a URL that begins with http:// or https://'] as const,
  ),
  [`http://${'a'.repeat(2048)}`, 'must be no longer than 2048 characters'],
  ['http://%ff:secret@host', 'must have its user and password percent-encoded'],
];
const JSON_RULES: WrongSettings['wrong'] = {
  'json-key': [
    ['', 'must not be empty'],
    ['rps', 'must have "$" at character 1, not "rps"'],
    ['$.', 'must have a name or "*" at character 3, not the end'],
    [`$${'.a'.repeat(2048)}`, 'must be no longer than 4096 characters'],
  ],
  'json-eval': [
    ['', 'must not be empty'],
    ['1 +', 'must have a value at character 4, not the end'],
    ['ciel($.a)', 'must not call "ciel": unknown function'],
    [`1${'+1'.repeat(2048)}`, 'must be no longer than 4096 characters'],
  ],
  aggregator: [...not('must be one of avg, min, max, sum', '', 'median', 'AVG')],
};
const PATH = 'must be a path of at most 1024 characters, with special characters percent-encoded';
const QUERY = 'must be a query of at most 1024 characters, with special characters percent-encoded';
const TIMEOUTS = not('must be a duration of 0s to 1m0s, as in 30s', '', 'soon', '-1s', '61s');
const COMMON: WrongSettings['wrong'] = {
  interval: not('must be a duration of 1s to 24h0m0s, as in 30s', '', '5', '-1s', '999ms', '25h', 'soon'),
};

/** The wrong values of every key of every collector, with some of these settings. */
export const WRONG_SETTINGS: readonly WrongSettings[] = [
  ...(['External', 'Object'] as const).map(
    (type): WrongSettings => ({
      type,
      collector: 'prometheus',
      good: { query: 'up' },
      wrong: {
        ...COMMON,
        query: TEXT,
        'query-name': TEXT,
        'prometheus-server': URLS,
        'prometheus-server-alias': [
          ...TEXT,
          ['x', 'must be one of --additional-prometheus-server (other), not "x"'],
        ],
      },
      missing: [[{}, 'query or query-name']],
    }),
  ),
  {
    type: 'External',
    collector: 'json-path',
    good: { endpoint: 'http://shop', 'json-key': '$' },
    wrong: { ...COMMON, ...JSON_RULES, endpoint: URLS },
    missing: [
      [{ 'json-key': '$' }, 'endpoint'],
      [{ endpoint: 'http://shop' }, 'json-key or json-eval'],
    ],
  },
  {
    type: 'Pods',
    collector: 'json-path',
    good: { port: '80', 'json-key': '$' },
    wrong: {
      ...COMMON,
      ...JSON_RULES,
      port: not('must be an integer from 1 to 65535', '', '0', '65536', '-80', '8e3', '80.0', 'http'),
      path: ['/a?b', '/a b', '/a#b', '/\u{e4}', `/${'a'.repeat(1024)}`].map((path) => [path, PATH] as const),
      scheme: not('must be one of http, https', '', 'ftp', 'HTTP'),
      'raw-query': ['a#b', 'a b', 'a\nb', 'a'.repeat(1025)].map((query) => [query, QUERY] as const),
      'request-timeout': TIMEOUTS,
      'connect-timeout': TIMEOUTS,
      'min-pod-ready-age': not('must be a duration of 0s to 24h0m0s, as in 30s', '', '-1s', '25h', 'old'),
    },
    missing: [
      [{ 'json-key': '$' }, 'port'],
      [{ port: '80' }, 'json-key or json-eval'],
    ],
  },
  {
    type: 'Object',
    collector: 'skipper',
    good: {},
    wrong: { ...COMMON, backend: TEXT },
    missing: [],
  },
  {
    type: 'External',
    collector: 'requests-per-second',
    good: { hostnames: 'a.example.org' },
    wrong: {
      ...COMMON,
      hostnames: not('must be host names separated by commas', '', 'a"}', 'a b', '*.a', 'a_b', '.*', 'a|b'),
      weight: not('must be a number from 0 to 100', '', '-1', '100.1', '1,5', '50%', 'NaN', '0x10'),
    },
    missing: [[{}, 'hostnames']],
  },
  {
    type: 'External',
    collector: 'influxdb',
    good: { query: 'from(b)' },
    wrong: {
      ...COMMON,
      query: TEXT,
      'query-name': TEXT,
      address: [...URLS, ['http://other', 'requires the settings "token" and "org"']],
      token: [
        ...['', 'a b', 'a\r\nb', '\u{e4}', 'a'.repeat(1025)].map(
          (token) => [token, 'must be one word of printable ASCII'] as const,
        ),
      ],
      org: TEXT,
    },
    missing: [[{}, 'query or query-name']],
  },
  {
    type: 'External',
    collector: 'sqs-queue-length',
    good: { 'queue-name': 'jobs', region: 'eu-central-1' },
    wrong: {
      ...COMMON,
      'queue-name': ['', 'a/b', 'a.b', 'http://a', 'a'.repeat(81)].map(
        (name) => [name, 'must be the name of a queue'] as const,
      ),
      region: [...TEXT, ['mars', 'must be one of --aws-region (eu-central-1), not "mars"']],
    },
    missing: [
      [{ region: 'eu-central-1' }, 'queue-name'],
      [{ 'queue-name': 'a' }, 'region'],
    ],
  },
  {
    type: 'External',
    collector: 'zmon',
    good: { 'check-id': '12' },
    wrong: {
      ...COMMON,
      'check-id': not('must be an integer from 1 to 2147483648', '', '0', 'twelve', '1.5', '2147483649'),
      key: TEXT,
      duration: not('must be a duration of 1s to 168h0m0s, as in 30s', '', '0s', '169h', '10'),
      aggregators: [
        ...not('must be some of avg, count, last, max, min, sum, diff', '', 'median'),
        ['max,,avg', 'must be some of avg, count, last, max, min, sum, diff, not ""'],
        [Array(11).fill('max').join(), 'must be at most 10'],
      ],
    },
    missing: [[{}, 'check-id']],
  },
  {
    type: 'External',
    collector: 'nakadi',
    good: { 'metric-type': 'unconsumed-events', 'subscription-id': 'a' },
    wrong: {
      ...COMMON,
      'metric-type': not('must be one of consumer-lag-seconds, unconsumed-events', '', 'lag'),
      'subscription-id': [...TEXT, ['.', 'must not be "." or ".."'], ['..', 'must not be "." or ".."']],
      'owning-application': TEXT,
      'event-types': not('must be names of event types separated by commas', '', 'a b', 'a/b', 'a&b'),
      'consumer-group': TEXT,
    },
    missing: [
      [{ 'subscription-id': 'a' }, 'metric-type'],
      ...[{}, { 'consumer-group': 'g' }, { 'owning-application': 'o', 'event-types': 'a' }].map(
        (given) => [{ 'metric-type': 'unconsumed-events', ...given }, 'subscription-id'] as const,
      ),
    ],
  },
  {
    type: 'External',
    collector: 'sql',
    good: { source: 'shop', query: 'SELECT 1' },
    wrong: {
      ...COMMON,
      source: [...TEXT, ['other', 'must be one of --sql-source (shop), not "other"']],
      query: TEXT,
    },
    missing: [
      [{ query: 'SELECT 1' }, 'source'],
      [{ source: 'shop' }, 'query'],
    ],
  },
  { type: 'Object', collector: 'scaling-schedule', good: {}, wrong: COMMON, missing: [] },
];

/** Values whose message is the rule followed by the value. */
function not(rule: string, ...values: readonly string[]): Rules {
  return values.map((value) => [value, `${rule}, not ${JSON.stringify(value)}`] as const);
}
