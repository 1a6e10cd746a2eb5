const IN_OTHER_WORDS =
  'The status is the same; the message of the simulator is shorter, or that of another version';
const BY_KEYS =
  'Kubernetes 1.20 applies a list of a custom resource as a whole, the simulator and later versions by its keys';
const UNWRITTEN_AS_ZEROS =
  '1.20 returns zeros for fields that are not set, because it stores HPAs in the oldest version; the simulator omits them';
const UNWRITTEN_AS_NULL = '1.36 writes currentMetrics as null, the simulator omits it';
const BAD_BODY = 'The simulator responds with 400 to a body of another kind, Kubernetes with 422';

/** Steps to which the simulator responds differently from kube-apiserver, and why the difference remains. */
export interface ExpectedDifferences {
  /** Reasons by name of the step. */
  readonly reasons: ReadonlyMap<string, string>;
  /** Steps for which the status differs, too. */
  readonly otherStatus: ReadonlySet<string>;
}

/** Differences from a Kubernetes version. Compared with 1.20.2 and 1.36.2. */
export function expectedDifferences(kubernetesMinor: number): ExpectedDifferences {
  const isOld = kubernetesMinor < 23;
  return {
    reasons: new Map([...BOTH, ...(isOld ? OLD : NEW)]),
    otherStatus: new Set([...OTHER_STATUS, ...(isOld ? OLD_STATUS : NEW_STATUS)]),
  };
}

const BOTH: readonly (readonly [string, string])[] = [
  ['create with a wrong type', IN_OTHER_WORDS],
  ['create without a name', IN_OTHER_WORDS],
  ['create another kind', BAD_BODY],
  ['get an unknown resource', 'The simulator says the same in a Status, 1.20 in a plain text'],
  ['get an unknown group', 'The simulator says the same in a Status, 1.20 in a plain text'],
  ['list by an invalid label selector', IN_OTHER_WORDS],
  ['update without a version', IN_OTHER_WORDS],
  ['merge another UID', IN_OTHER_WORDS],
  ['merge a body that is not an object', BAD_BODY],
  ['patch by JSON with a failing test', IN_OTHER_WORDS],
  [
    'patch a missing field by JSON',
    '1.20 adds a value that does not exist instead of replacing it; the simulator refuses that, as RFC 6902 and later versions do',
  ],
  ['patch by an invalid JSON patch', IN_OTHER_WORDS],
  ['patch a custom resource strategically', IN_OTHER_WORDS],
  ['apply without a manager', IN_OTHER_WORDS],
  ['apply a null', IN_OTHER_WORDS],
  ['apply a null in a list', IN_OTHER_WORDS],
  ['merge a number into a ConfigMap', BAD_BODY],
  ['create an invalid HPA', 'The simulator checks types and required fields first, 1.20 all rules at once'],
  ['list HPAs as a table', 'The simulator prints the limits and replicas, without the targets'],
  ['list ConfigMaps as a table', 'The simulator prints name and age alone'],
  ['watch as a table', 'The simulator repeats the columns with each event'],
  ['add a finalizer to an object that is being deleted', IN_OTHER_WORDS],
  ['delete with another UID', IN_OTHER_WORDS],
];

/** Differences from 1.20.2 only. */
const OLD: readonly (readonly [string, string])[] = [
  ['create a repeated key of a list', IN_OTHER_WORDS],
  ['apply as another manager', BY_KEYS],
  ['apply by force', BY_KEYS],
  ['apply fewer fields', BY_KEYS],
  ['apply a status', BY_KEYS],
  ['apply zero, false and empty lists', BY_KEYS],
  ['list the remaining objects', BY_KEYS],
  ['apply an empty text of a status', IN_OTHER_WORDS],
  ['apply an empty text in a list', IN_OTHER_WORDS],
  ['apply an empty text in a list again', IN_OTHER_WORDS],
  ['apply an empty text in an atomic list', IN_OTHER_WORDS],
  ['apply an empty text in an atomic list again', IN_OTHER_WORDS],
  ['create an HPA with metrics of all kinds', UNWRITTEN_AS_ZEROS],
  ['create an HPA with quantities in other forms', UNWRITTEN_AS_ZEROS],
  ['replace quantities by numbers', UNWRITTEN_AS_ZEROS],
  ['create an HPA with an invalid quantity', IN_OTHER_WORDS],
];

/** Differences from 1.36.2 only. */
const NEW: readonly (readonly [string, string])[] = [
  ['apply another version', IN_OTHER_WORDS],
  ['create an HPA with metrics of all kinds', UNWRITTEN_AS_NULL],
  ['create an HPA with quantities in other forms', UNWRITTEN_AS_NULL],
  ['replace quantities by numbers', UNWRITTEN_AS_NULL],
  ['get the HPA in the oldest version', '1.36 writes an absent tolerance as null in the annotation'],
  ['list the remaining objects', 'The simulator applies nulls, which 1.36 refuses'],
];

const OTHER_STATUS = [
  'create another kind',
  'merge a body that is not an object',
  'merge a number into a ConfigMap',
  'patch a missing field by JSON',
];
const OLD_STATUS = ['apply as another manager'];
const NEW_STATUS = ['apply a null', 'apply a null in a list'];
