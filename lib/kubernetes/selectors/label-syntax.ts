const NAME = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const VALUE = `(${NAME})?`;
const SUBDOMAIN_PART = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${SUBDOMAIN_PART}(\\.${SUBDOMAIN_PART})*`;

const NAME_RULE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character" +
  ` (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${NAME}')`;
const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', " +
  'and must start and end with an alphanumeric character ' +
  `(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '${VALUE}')`;
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', " +
  `and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`;

const MAX_NAME_BYTES = 63;
const MAX_SUBDOMAIN_BYTES = 253;

/**
 * What is wrong with a label key (`[DNS subdomain "/"] name`), in the words of Kubernetes' `IsQualifiedName`.
 *
 * @returns one sentence a broken rule; empty when the key is valid
 */
export function labelKeyFaults(key: string): readonly string[] {
  const parts = key.split('/');
  if (parts.length > 2) {
    return [
      `a qualified name ${NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? '';
  return [...(parts.length === 2 ? prefixFaults(parts[0] ?? '') : []), ...nameFaults(name)];
}

/** What is wrong with a label value, in the words of Kubernetes' `IsValidLabelValue`; empty when it is valid. */
export function labelValueFaults(value: string): readonly string[] {
  const faults: string[] = [];
  if (Buffer.byteLength(value) > MAX_NAME_BYTES) faults.push(tooLong(MAX_NAME_BYTES));
  if (!WHOLE_VALUE.test(value)) faults.push(VALUE_RULE);
  return faults;
}

const WHOLE_NAME = new RegExp(`^${NAME}$`);
const WHOLE_VALUE = new RegExp(`^${VALUE}$`);
const WHOLE_SUBDOMAIN = new RegExp(`^${SUBDOMAIN}$`);

function prefixFaults(prefix: string): readonly string[] {
  if (prefix === '') return ['prefix part must be non-empty'];
  const faults: string[] = [];
  if (Buffer.byteLength(prefix) > MAX_SUBDOMAIN_BYTES) faults.push(tooLong(MAX_SUBDOMAIN_BYTES));
  if (!WHOLE_SUBDOMAIN.test(prefix)) faults.push(SUBDOMAIN_RULE);
  return faults.map((fault) => `prefix part ${fault}`);
}

function nameFaults(name: string): readonly string[] {
  const faults: string[] = [];
  if (name === '') faults.push('name part must be non-empty');
  else if (Buffer.byteLength(name) > MAX_NAME_BYTES) faults.push(`name part ${tooLong(MAX_NAME_BYTES)}`);
  if (!WHOLE_NAME.test(name)) faults.push(`name part ${NAME_RULE}`);
  return faults;
}

function tooLong(bytes: number): string {
  return `must be no more than ${bytes} bytes`;
}
