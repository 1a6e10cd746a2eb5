import { isIP } from 'node:net';

/** The bytes of an IP address; `undefined` of anything else. */
export function ipOctets(text: string): Buffer | undefined {
  switch (isIP(text)) {
    case 4:
      return Buffer.from(text.split('.').map(Number));
    case 6:
      return ipv6Octets(text);
    default:
      return undefined;
  }
}

function ipv6Octets(text: string): Buffer {
  // A URL writes an IPv4 address at the end in hexadecimal, as the rest.
  const [before = '', after] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::');
  const head = before.split(':').filter(Boolean);
  const tail = (after ?? '').split(':').filter(Boolean);
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return Buffer.from([...head, ...zeros, ...tail].map((group) => group.padStart(4, '0')).join(''), 'hex');
}
