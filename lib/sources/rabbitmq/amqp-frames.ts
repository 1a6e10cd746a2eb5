/** A method of AMQP 0-9-1 as it came, by the numbers of its class and itself. */
export interface AmqpMethod {
  readonly channel: number;
  /** `CLASS.METHOD`, as in `10.30`. */
  readonly id: string;
  readonly content: Buffer;
}

/** Of methods that are sent or understood. */
export const METHODS = {
  start: '10.10',
  startOk: '10.11',
  tune: '10.30',
  tuneOk: '10.31',
  open: '10.40',
  openOk: '10.41',
  close: '10.50',
  closeOk: '10.51',
  channelOpen: '20.10',
  channelOpenOk: '20.11',
  channelClose: '20.40',
  channelCloseOk: '20.41',
  queueDeclare: '50.10',
  queueDeclareOk: '50.11',
} as const;

/** What a connection begins with. */
export const PROTOCOL_HEADER = Buffer.from([...Buffer.from('AMQP'), 0, 0, 9, 1]);
/** A longer frame is an error; a broker is told so. */
export const MAX_FRAME_BYTES = 131_072;

const [METHOD, HEARTBEAT, END] = [1, 8, 0xce];
const HEADER_BYTES = 7;
const LONGEST_SHORT = 255;

/** Takes frames apart as they come in, each within a bound, in time linear in what comes. */
export class AmqpDecoder {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #needed = HEADER_BYTES;

  /** The methods that are whole with these bytes. @throws an Error that says what cannot be read */
  decode(chunk: Buffer): readonly AmqpMethod[] {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#needed) return [];
    const bytes = Buffer.concat(this.#chunks.splice(0));
    const methods: AmqpMethod[] = [];
    let at = 0;
    for (;;) {
      const left = bytes.length - at;
      this.#needed = HEADER_BYTES;
      if (left < HEADER_BYTES) break;
      const size = bytes.readUInt32BE(at + 3);
      if (size > MAX_FRAME_BYTES) throw unreadable(bytes, at);
      this.#needed = HEADER_BYTES + size + 1;
      if (left < this.#needed) break;
      const method = methodIn(bytes.subarray(at, at + this.#needed));
      if (method) methods.push(method);
      at += this.#needed;
    }
    this.#bytes = bytes.length - at;
    if (this.#bytes > 0) this.#chunks.push(bytes.subarray(at));
    return methods;
  }
}

/** A method as it is sent. */
export function encodeMethod(channel: number, id: string, ...fields: readonly Buffer[]): Buffer {
  const [classId = 0, methodId = 0] = id.split('.').map(Number);
  const content = Buffer.concat([u16(classId), u16(methodId), ...fields]);
  return Buffer.concat([
    Buffer.from([METHOD]),
    u16(channel),
    u32(content.length),
    content,
    Buffer.from([END]),
  ]);
}

/** @throws for what is longer than a short text may be */
export function shortText(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length > LONGEST_SHORT)
    throw new Error(`${JSON.stringify(text.slice(0, 50))} is longer than ${LONGEST_SHORT} bytes`);
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

export function longText(bytes: string | Buffer): Buffer {
  return Buffer.concat([u32(Buffer.byteLength(bytes)), Buffer.from(bytes)]);
}

/** A table of texts, booleans and tables. */
export function table(
  fields: Readonly<Record<string, string | true | Readonly<Record<string, true>>>>,
): Buffer {
  const encoded = Object.entries(fields).flatMap(([name, value]) => [
    shortText(name),
    value === true
      ? Buffer.from('t\x01')
      : typeof value === 'string'
        ? Buffer.concat([Buffer.from('S'), longText(value)])
        : Buffer.concat([Buffer.from('F'), table(value)]),
  ]);
  return longText(Buffer.concat(encoded));
}

export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** How many messages a queue has, as `queue.declare-ok` tells: its name, messages, consumers. */
export function messageCountIn({ content }: AmqpMethod): number {
  const at = 1 + (content[0] ?? 0);
  if (content.length < at + 4) throw new Error('the broker responds with no count');
  return content.readUInt32BE(at);
}

/** Why a channel or connection was closed: a code and a text. */
export function reasonIn({ content }: AmqpMethod): string {
  if (content.length < 3) return 'the broker closes without a reason';
  const text = content.subarray(3, 3 + (content[2] ?? 0)).toString('utf8');
  return `${content.readUInt16BE(0)} ${text}`;
}

/** @returns `undefined` for what is no method: a heartbeat */
function methodIn(frame: Buffer): AmqpMethod | undefined {
  const type = frame[0];
  if (frame.at(-1) !== END || (type !== METHOD && type !== HEARTBEAT)) throw unreadable(frame, 0);
  if (type === HEARTBEAT) return undefined;
  const content = frame.subarray(HEADER_BYTES, -1);
  if (content.length < 4) throw unreadable(frame, 0);
  return {
    channel: frame.readUInt16BE(1),
    id: `${content.readUInt16BE(0)}.${content.readUInt16BE(2)}`,
    content: content.subarray(4),
  };
}

/** A broker that speaks another version says which, in place of a frame. */
function unreadable(bytes: Buffer, at: number): Error {
  const isVersion = bytes.subarray(at, at + 4).equals(PROTOCOL_HEADER.subarray(0, 4));
  return new Error(isVersion ? 'the broker does not speak AMQP 0-9-1' : 'the response is none of AMQP 0-9-1');
}
