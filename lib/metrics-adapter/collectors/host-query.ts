/** What a host may be called; a star is the first part of one alone. */
const HOST = /^(?:\*\.)?[a-zA-Z0-9_-][a-zA-Z0-9_.-]{0,252}$/;

/** Whether a text is a host. */
function isHost(text: string): boolean {
  return HOST.test(text);
}

/**
 * How many requests a second go to hosts, in PromQL, by a series that has hosts with underscores for dots.
 *
 * @param weight which share of the requests counts, of 1
 * @throws for what is no host
 */
export function hostQuery(
  series: string,
  { hosts, weight }: { readonly hosts: readonly string[]; readonly weight: number },
): string {
  const wrong = hosts.find((host) => !isHost(host));
  if (wrong !== undefined) throw new Error(`${JSON.stringify(wrong.slice(0, 253))} is no host name`);
  const pattern = hosts.map((host) => host.replaceAll('.', '_').replaceAll('*', '\\\\*')).join('|');
  return `scalar(sum(rate(${series}{host=~"${pattern}"}[1m])) * ${weight.toFixed(4)})`;
}
