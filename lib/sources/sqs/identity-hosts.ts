import { AllowedHosts } from '../network/allowed-hosts.ts';

/** Which hosts see the AWS identity of this program, beside those of SQS. */
export interface IdentityHostsOptions {
  /** Names, `*.SUFFIX`, addresses and ranges, as an administrator lists them. */
  readonly hosts: readonly string[];
}

/**
 * The domains in which AWS has its services, for each partition those for IPv4 and for both families, as the rules of the AWS SDK
 * for endpoints have them.
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
 * Of SQS in one of these: of a region, as it was before 2012, and through an interface endpoint of a VPC. Other hosts there belong to
 * customers, as those of API Gateway do, which hand headers on.
 */
const SQS =
  /^(?:sqs(?:-fips)?\.[a-z0-9-]+|(?:[a-z0-9-]+\.)?queue|vpce-[a-z0-9-]+\.sqs(?:-fips)?\.[a-z0-9-]+\.vpce)$/;

/** The longest name that is judged; DNS has none that is longer. */
const MAX_LENGTH = 254;

/** Judges which hosts may see the AWS identity of this program, which is more than a tenant has. */
export class IdentityHosts {
  readonly #listed: AllowedHosts | undefined;

  constructor({ hosts }: IdentityHostsOptions) {
    this.#listed = hosts.length > 0 ? new AllowedHosts(hosts) : undefined;
  }

  /** @throws an Error that names the rule, unless the endpoint is one of SQS or is listed, by HTTPS */
  check({ protocol, hostname, port, host }: URL): void {
    const isSqs = hostname.length <= MAX_LENGTH && port === '' && isSqsHost(hostname.replace(/\.$/, ''));
    if (protocol === 'https:' && (isSqs || this.#listed?.names(hostname))) return;
    throw new Error(
      `${protocol}//${host} must not see the AWS identity of this program: identityOwner operator is for HTTPS endpoints of ` +
        'SQS, and for hosts that --aws-identity-hosts names',
    );
  }
}

function isSqsHost(host: string): boolean {
  return DOMAINS.some((domain) => host.endsWith(`.${domain}`) && SQS.test(host.slice(0, -domain.length - 1)));
}
