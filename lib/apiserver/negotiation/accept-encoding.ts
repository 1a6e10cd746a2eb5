const ZERO = /^0(?:\.0*)?$/;

/** Whether a client says gzip, and not that it takes none of it; as in Kubernetes, a star is not enough. */
export function takesGzip(header: string): boolean {
  return header.split(',').some(saysGzip);
}

function saysGzip(clause: string): boolean {
  const [coding = '', ...parameters] = clause.split(';');
  if (coding.trim() !== 'gzip') return false;
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return name.trim() !== 'q' || !ZERO.test(value.trim());
  });
}
