import type { TLSSocket } from 'node:tls';
import { expect } from 'chai';
import type { Identification } from '#lib/apiserver/access/authenticator.ts';
import { bearerTokenAuthenticator } from '#lib/apiserver/access/bearer-token.ts';
import type { User } from '#lib/apiserver/http/api-context.ts';

const ALICE: User = { name: 'alice', uid: '', groups: [], extra: {} };

/** The user of a header, by a reviewer that accepts one token. */
async function userOf(authorization: string | undefined): Promise<Identification> {
  const method = bearerTokenAuthenticator(async (token) => (token === 'good' ? ALICE : undefined));
  const socket = {} as TLSSocket; // unused
  return await method({ headers: { authorization }, rawHeaders: [], socket });
}

describe('bearerTokenAuthenticator', () => {
  for (const header of ['Bearer good', 'bearer good', '  BEARER good  ', 'Bearer good more']) {
    it(`finds the token in "${header}"`, async () => {
      expect(await userOf(header)).to.equal(ALICE);
    });
  }

  for (const header of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Bearer  good',
    'Basic good',
    'good',
    'Bearer\tgood',
  ]) {
    it(`ignores ${JSON.stringify(header)}`, async () => {
      expect(await userOf(header)).to.equal(undefined);
    });
  }

  it('throws for an invalid token, without quoting it', async () => {
    const failure = await userOf('Bearer secret').catch((error: Error) => error);
    expect(failure).to.be.instanceOf(Error);
    expect((failure as Error).stack).not.to.contain('secret');
  });
});
