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
 * @param what the key is to be: `a valid label key` in newer releases of Kubernetes
 * @returns one sentence a broken rule; empty when the key is valid
 */
export function labelKeyErrors(key: string, what = 'a qualified name'): readonly string[] {
  const parts = key.split('/');
  if (parts.length > 2) {
    return [`${what} ${NAME_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = parts.at(-1) ?? '';
  return [...(parts.length === 2 ? prefixErrors(parts[0] ?? '') : []), ...nameErrors(name)];
}

/** What is wrong with a label value, in the words of Kubernetes' `IsValidLabelValue`; empty when it is valid. */
export function labelValueErrors(value: string): readonly string[] {
  const errors: string[] = [];
  if (Buffer.byteLength(value) > MAX_NAME_BYTES) errors.push(tooLong(MAX_NAME_BYTES));
  if (!WHOLE_VALUE.test(value)) errors.push(VALUE_RULE);
  return errors;
}

const WHOLE_NAME = new RegExp(`^${NAME}$`);
const WHOLE_VALUE = new RegExp(`^${VALUE}$`);
const WHOLE_SUBDOMAIN = new RegExp(`^${SUBDOMAIN}$`);

function prefixErrors(prefix: string): readonly string[] {
  if (prefix === '') return ['prefix part must be non-empty'];
  const errors: string[] = [];
  if (Buffer.byteLength(prefix) > MAX_SUBDOMAIN_BYTES) errors.push(tooLong(MAX_SUBDOMAIN_BYTES));
  if (!WHOLE_SUBDOMAIN.test(prefix)) errors.push(SUBDOMAIN_RULE);
  return errors.map((error) => `prefix part ${error}`);
}

function nameErrors(name: string): readonly string[] {
  const errors: string[] = [];
  if (name === '') errors.push('name part must be non-empty');
  else if (Buffer.byteLength(name) > MAX_NAME_BYTES) errors.push(`name part ${tooLong(MAX_NAME_BYTES)}`);
  if (!WHOLE_NAME.test(name)) errors.push(`name part ${NAME_RULE}`);
  return errors;
}

function tooLong(bytes: number): string {
  return `must be no more than ${bytes} bytes`;
}
