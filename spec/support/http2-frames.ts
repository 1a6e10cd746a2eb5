/** The connection preface of a client, with default settings. */
export function clientPreface(): Buffer {
  return Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame({ type: 4, stream: 0 })]);
}

/** A GET request that is canceled immediately with RST_STREAM (RFC 9113). */
export function resetRequest(stream: number, path: string): Buffer {
  const headers = { ':method': 'GET', ':scheme': 'https', ':authority': 'a', ':path': path };
  const payload = Buffer.concat(Object.entries(headers).map(([name, value]) => literal(name, value)));
  const cancel = Buffer.of(0, 0, 0, 8);
  return Buffer.concat([
    frame({ type: 1, flags: 5, stream, payload }),
    frame({ type: 3, stream, payload: cancel }),
  ]);
}

/** The headers of a response, or of an informational one if the status is below 200. */
export function responseHeaders(stream: number, status: number): Buffer {
  const payload = Buffer.concat([
    literal(':status', `${status}`),
    ...(status < 200 ? [] : [literal('content-type', 'application/grpc')]),
  ]);
  return frame({ type: 1, flags: 4, stream, payload });
}

/** One frame in wire format (RFC 9113, section 4). */
export function frame(content: {
  readonly type: number;
  readonly flags?: number;
  readonly stream: number;
  readonly payload?: Buffer;
}): Buffer {
  const { type, flags = 0, stream, payload = Buffer.alloc(0) } = content;
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header field that is not indexed (RFC 7541), of less than 127 bytes. */
function literal(name: string, value: string): Buffer {
  const text = (one: string) => Buffer.concat([Buffer.of(one.length), Buffer.from(one)]);
  return Buffer.concat([Buffer.of(0), text(name), text(value)]);
}
