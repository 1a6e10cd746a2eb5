import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { findIndexAccesses, type IndexAccess } from '#spec/support/index-accesses.ts';

const FIXTURE = 'spec/fixtures/index-accesses.ts';

/** Permitted index accesses, and why no foreign key reaches them. */
const REASONS: Readonly<Record<string, string>> = {
  'lib/kubernetes/get-own.ts record[key]': 'after Object.hasOwn',
  'lib/kubernetes/objects/kubernetes-object.ts (value as Record<string, unknown>)[key]':
    'after Object.hasOwn',
  'lib/kubernetes/objects/kubernetes-object.ts metadata[field]': 'a key of the object itself, by for…in',
  'lib/kubernetes/objects/kubernetes-object.ts value[key]': 'a key of the object itself, by for…in',
  'lib/kubernetes/objects/kubernetes-object.ts owner[field]': 'names of fields that this program has',
  'lib/kubernetes/objects/hpa-schema.ts value[source]': 'names of fields that this program has',
  'lib/kubernetes/objects/pod.ts texts[key]': 'a key of the object itself, by for…in',
  'lib/kubernetes/objects/text-size.ts texts[key]': 'a key of the object itself, by for…in',
  'lib/hpa/inputs/pod-metrics-client.ts value[key]': 'a key of the object itself, by for…in',
  'lib/cron-hpa/cron-hpa.ts value[key]': 'a key of the object itself, by for…in',
  'lib/hpa/inputs/overlapping-hpas.ts pod.labels[label]': 'a key of the object itself, by for…in',
  'lib/apiserver/encoding/message-type.ts object[name]':
    'names of fields of message types that this program has',
  'lib/apiserver/discovery/openapi-v2.ts converted[key]': 'keywords of schemas that this program has',
  'lib/apiserver/discovery/openapi-v2.ts Object.assign({}, ...schemas)':
    'names of schemas that this program has',
  'lib/apiserver/discovery/openapi-v2.ts Object.assign(converted, toV2(firstOf(inner)))':
    'keywords of schemas that this program has',
  'lib/doctor/check.ts diagnoses[code]': 'a key of the type of the diagnoses',
};

describe('index access', () => {
  let accesses: readonly IndexAccess[];

  before(() => {
    accesses = findIndexAccesses(
      (path) => path === FIXTURE || (path.startsWith('lib/') && !path.startsWith('lib/simulator/')),
    );
  });

  it('by a key that may be any text is getOwn, a Map or has a reason', () => {
    const found = accesses.filter(({ path }) => path !== FIXTURE);
    const unexplained = found.filter(({ path, code }) => !Object.hasOwn(REASONS, `${path} ${code}`));
    expect(unexplained.map(({ path, line, code }) => `${path}:${line} ${code}`)).to.deep.equal([]);
    const present = new Set(found.map(({ path, code }) => `${path} ${code}`));
    expect(Object.keys(REASONS).filter((place) => !present.has(place))).to.deep.equal([]);
  });

  it('is found in every form, and no other access is', () => {
    const lines = readFileSync(FIXTURE, 'utf8').split('\n');
    const [from, to] = ['export const FOUND', 'export const LEFT_ALONE'].map((start) =>
      lines.findIndex((line) => line.startsWith(start)),
    );
    const found = accesses.filter(({ path }) => path === FIXTURE).map(({ line }) => line);
    const meant = lines.flatMap((line, index) =>
      index > (from ?? 0) && index < (to ?? 0) && /[[(]|\bin\b/.test(line) ? [index + 1] : [],
    );
    expect(found.toSorted((one, other) => one - other)).to.deep.equal(meant);
  });
});
