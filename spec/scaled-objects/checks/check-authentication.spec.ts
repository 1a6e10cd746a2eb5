import { expect } from 'chai';
import { brokenByAuthentication } from '#lib/scaled-objects/checks/check-authentication.ts';

const GOOD = { type: 'clientCredentials', clientId: 'a', tokenUrl: 'https://issuer.example/token' };

describe('brokenByAuthentication', () => {
  for (const [spec, broken] of [
    [{}, undefined],
    [{ podIdentity: { provider: 'none' } }, undefined],
    [{ podIdentity: { provider: 'azure-workload' } }, undefined],
    [
      { podIdentity: { provider: 'azure-workload', identityId: '' } },
      'identityId of PodIdentity should not be empty',
    ],
    [
      { podIdentity: { provider: 'azure-workload', identityTenantId: '' } },
      'identityTenantId of PodIdentity should not be empty',
    ],
    [
      { podIdentity: { provider: 'azure-workload', identityAuthorityHost: 'h' } },
      'identityTenantId of PodIdentity must be set with identityAuthorityHost',
    ],
    [{ podIdentity: { provider: 'aws', roleArn: 'r' } }, undefined],
    [
      { podIdentity: { provider: 'aws', roleArn: 'r', identityOwner: 'workload' } },
      "roleArn of PodIdentity can't be set if KEDA isn't identityOwner",
    ],
    [{ podIdentity: { provider: 'aws', externalID: 'e' } }, 'externalID of PodIdentity needs roleArn'],
    [{ oauth2: GOOD }, undefined],
    [{ oauth2: { ...GOOD, type: 'password' } }, 'type of oauth2 must be clientCredentials'],
    [{ oauth2: { ...GOOD, clientId: '' } }, 'clientId of oauth2 is required'],
    [{ oauth2: { ...GOOD, tokenUrl: '' } }, 'tokenUrl of oauth2 is required'],
    [
      { oauth2: { ...GOOD, tokenUrl: 'issuer' } },
      'tokenUrl of oauth2 must be an http or https URL with a host',
    ],
    [
      { oauth2: { ...GOOD, tokenUrl: 'ftp://issuer/' } },
      'tokenUrl of oauth2 must be an http or https URL with a host',
    ],
    // An identity beside it leaves nothing unlooked at.
    [
      { podIdentity: { provider: 'none' }, oauth2: { ...GOOD, clientId: '' } },
      'clientId of oauth2 is required',
    ],
  ] as const) {
    it(`says ${JSON.stringify(broken)} of ${JSON.stringify(spec)}`, () => {
      expect(brokenByAuthentication(spec)).to.equal(broken);
    });
  }
});
