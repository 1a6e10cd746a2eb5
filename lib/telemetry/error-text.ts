/** Also bounds circular chains of causes. */
const MAX_DEPTH = 5;

/** Joins the messages of an error and its causes; skips a message that an earlier one contains. */
export function describeError(error: unknown): string {
  const messages: string[] = [];
  let current = error;
  for (let depth = 0; depth < MAX_DEPTH && current !== undefined && current !== null; depth++) {
    const message = current instanceof Error ? textOf(current, messages) : String(current);
    if (!messages.some((earlier) => earlier.includes(message))) messages.push(message);
    current = current instanceof Error ? current.cause : undefined;
  }
  return messages.join(': ');
}

/** Returns the message of a thrown value without its causes, for use within a sentence. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? textOf(thrown) : String(thrown);
}

/** What Node reports by its code alone, or in words of its own. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['EACCES', 'permission denied'],
  ['EADDRINUSE', 'address already in use'],
  ['EADDRNOTAVAIL', 'address not available on this machine'],
  ['ECONNREFUSED', 'connection refused'],
  ['ECONNRESET', 'connection reset'],
  ['EHOSTUNREACH', 'no route to the host'],
  ['EISDIR', 'is a directory'],
  ['EMFILE', 'this process has too many open files'],
  ['ENETUNREACH', 'network unreachable'],
  ['ETIMEDOUT', 'connection timed out'],
]);

/** The reason of a failed system call, such as `connection refused`; `undefined` for other errors. */
export function systemReasonOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code = '', syscall, message } = thrown as SystemError;
  // Clients of HTTP and TLS describe a reset in words of their own, without a system call.
  if (syscall === undefined) return code === 'ECONNRESET' ? undefined : REASONS.get(code);
  return REASONS.get(code) ?? /^E[A-Z0-9]+: ([^,]+)/.exec(message)?.[1];
}

/**
 * The message of an error; of a system call, such as `connect 10.0.0.7:6379: connection refused` or
 * `open /etc/ca.crt: permission denied`, without the address or path if an earlier message has it.
 */
function textOf(error: Error, earlier: readonly string[] = []): string {
  const reason = systemReasonOf(error);
  if (reason === undefined) return error.message || error.name;
  const { syscall, path, address, port } = error as SystemError;
  const subject = path ?? (address === undefined ? undefined : formatAddress(address, port));
  if (!syscall || !subject || earlier.some((message) => message.includes(subject))) return reason;
  return `${syscall} ${subject}: ${reason}`;
}

/** An error of a system call. */
interface SystemError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly port?: number;
}

function formatAddress(address: string, port: number | undefined): string {
  const host = address.includes(':') ? `[${address}]` : address;
  return port === undefined ? host : `${host}:${port}`;
}

/** Wraps thrown values that are not errors. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Returns the code of an error, such as `ECONNREFUSED`. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined;
}
