import { AllowedHosts } from '../network/allowed-hosts.ts';

/** Hosts that may receive the AWS identity of this program, in addition to SQS. */
export interface IdentityHostsOptions {
  /** Names, `*.SUFFIX`, addresses and address ranges. */
  readonly hosts: readonly string[];
}

/**
 * Domains of AWS services per partition, for IPv4 and dual-stack endpoints, from the endpoint rules of the AWS SDK.
 */
const DOMAINS = [
  ...['amazonaws.com', 'api.aws'], // aws, aws-us-gov
  ...['amazonaws.com.cn', 'api.amazonwebservices.com.cn'], // aws-cn
  ...['amazonaws.eu', 'api.amazonwebservices.eu'], // aws-eusc
  ...['c2s.ic.gov', 'api.aws.ic.gov'], // aws-iso
  ...['sc2s.sgov.gov', 'api.aws.scloud'], // aws-iso-b
  ...['cloud.adc-e.uk', 'api.cloud-aws.adc-e.uk'], // aws-iso-e
  ...['csp.hci.ic.gov', 'api.aws.hci.ic.gov'], // aws-iso-f
];
/**
 * SQS hosts in these domains: of a region, in the form before 2012, and of VPC interface endpoints. Other hosts may
 * belong to customers, such as those of API Gateway, which forward headers.
 */
const SQS =
  /^(?:sqs(?:-fips)?\.[a-z0-9-]+|(?:[a-z0-9-]+\.)?queue|vpce-[a-z0-9-]+\.sqs(?:-fips)?\.[a-z0-9-]+\.vpce)$/;

/** Maximum length of a DNS name, with the final dot. */
const MAX_LENGTH = 254;

/** Decides which hosts may receive the AWS identity of this program, which has more permissions than a tenant. */
export class IdentityHosts {
  readonly #listed: AllowedHosts | undefined;

  constructor({ hosts }: IdentityHostsOptions) {
    this.#listed = hosts.length > 0 ? new AllowedHosts(hosts) : undefined;
  }

  /** @throws an Error with the rule unless the endpoint uses HTTPS and is one of SQS or listed */
  check({ protocol, hostname, port, host }: URL): void {
    const isSqs = hostname.length <= MAX_LENGTH && port === '' && isSqsHost(hostname.replace(/\.$/, ''));
    if (protocol === 'https:' && (isSqs || this.#listed?.names(hostname))) return;
    throw new Error(
      `${protocol}//${host} must not receive the AWS identity of this program: identityOwner operator requires an HTTPS endpoint of ` +
        'SQS or a host listed in --aws-identity-hosts',
    );
  }
}

function isSqsHost(host: string): boolean {
  return DOMAINS.some((domain) => host.endsWith(`.${domain}`) && SQS.test(host.slice(0, -domain.length - 1)));
}
