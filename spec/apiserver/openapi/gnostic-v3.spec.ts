import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { gnosticV3 } from '#lib/apiserver/openapi/gnostic-v3.ts';

const RECORDED = 'spec/fixtures/reference/requests/openapi-v3-gv';

describe('gnosticV3', () => {
  it('encodes the document that the reference was recorded with as the reference did', () => {
    const document = JSON.parse(readFileSync(`${RECORDED}.body`, 'utf8'));
    const expected = readFileSync(`${RECORDED}-pb.body`);
    const encoded = gnosticV3(document);
    let at = 0;
    while (at < expected.length && encoded[at] === expected[at]) at++;
    const around = (bytes: Buffer) => bytes.subarray(Math.max(0, at - 40), at + 80).toString('latin1');
    expect(around(encoded), `from byte ${at}`).to.equal(around(expected));
    expect(encoded.equals(expected)).to.equal(true);
  });
});
