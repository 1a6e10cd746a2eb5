import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import { IdentityHosts } from '#lib/sources/http-apis/aws-identity-hosts.ts';

const SQS = [
  'https://sqs.eu-central-1.amazonaws.com/',
  'https://SQS.eu-central-1.AmazonAWS.com:443/',
  'https://sqs.eu-central-1.amazonaws.com./',
  'https://sqs-fips.us-gov-west-1.amazonaws.com/',
  'https://sqs.eu-central-1.api.aws/',
  'https://sqs.cn-north-1.amazonaws.com.cn/',
  'https://sqs.eusc-de-east-1.amazonaws.eu/',
  'https://eu-central-1.queue.amazonaws.com/',
  'https://queue.amazonaws.com/',
  'https://vpce-0a1b-2c3d.sqs.eu-central-1.vpce.amazonaws.com/',
];
const OTHERS = [
  'http://sqs.eu-central-1.amazonaws.com/',
  'https://evilamazonaws.com/',
  'https://sqs.eu-central-1.evilamazonaws.com/',
  'https://sqs.eu-central-1.amazonaws.com.evil.example/',
  'https://sqs.eu-central-1.amazonaws.com@evil.example/',
  'https://evil.example/sqs.eu-central-1.amazonaws.com',
  'https://evil.example#.sqs.eu-central-1.amazonaws.com',
  'https://evil.example\\@sqs.eu-central-1.amazonaws.com/',
  'https://sqs.eu-central-1.amazonaws.com:8443/',
  'https://sqs.eu-central-1.amazonaws.com../',
  'https://sqs.eu-central-1.amazonaw\u0455.com/', // a Cyrillic letter
  'https://amazonaws.com/',
  'https://evil.execute-api.eu-central-1.amazonaws.com/',
  'https://sqs.evil.execute-api.eu-central-1.amazonaws.com/',
  'https://sqs.s3.eu-central-1.amazonaws.com/',
  'https://evil.elb.amazonaws.com/',
  'https://vpce-0a.vpce-svc-0b.eu-central-1.vpce.amazonaws.com/',
  'https://xsqs.eu-central-1.amazonaws.com/',
  'https://10.0.0.1/',
  'https://[fd00::1]/',
];

describe('IdentityHosts', () => {
  const isAllowed = (url: string, hosts: readonly string[] = []) => {
    try {
      new IdentityHosts({ hosts }).check(new URL(url));
      return true;
    } catch (error) {
      expect(String(error)).to.match(/must not receive the AWS identity of this program/);
      return false;
    }
  };

  it('sends the identity to SQS of every partition, over HTTPS alone', () => {
    for (const url of SQS) expect(isAllowed(url), url).to.equal(true);
    for (const url of OTHERS) expect(isAllowed(url), url).to.equal(false);
  });

  it('includes SQS in all domains of the AWS SDK', () => {
    const ofSdk = createRequire(createRequire(import.meta.url).resolve('@aws-sdk/client-sqs'));
    const text = readFileSync(ofSdk.resolve('@aws-sdk/core/client'), 'utf8'); // has its partitions
    const domains = [...text.matchAll(/"((?:[a-z0-9-]+\.)+(?:aws|cn|com|eu|gov|scloud|uk))"/g)].map(
      ([, domain]) => domain,
    );
    expect(domains).to.include.members(['amazonaws.com', 'api.aws', 'amazonaws.com.cn', 'amazonaws.eu']);
    for (const domain of domains) expect(isAllowed(`https://sqs.a-b-1.${domain}/`), domain).to.equal(true);
  });

  it('sends the identity to hosts that an administrator lists, over HTTPS alone', () => {
    const hosts = ['sqs.example', '*.corp.example', '10.0.0.0/8'];
    for (const host of ['sqs.example:8443', 'a.corp.example', '10.1.2.3', 'sqs.eu-central-1.amazonaws.com'])
      expect(isAllowed(`https://${host}/`, hosts), host).to.equal(true);
    expect(isAllowed('http://sqs.example/', hosts)).to.equal(false);
    for (const host of ['evil-sqs.example', 'corp.example', '11.0.0.1', 'b.sqs.example'])
      expect(isAllowed(`https://${host}/`, hosts), host).to.equal(false);
  });
});
