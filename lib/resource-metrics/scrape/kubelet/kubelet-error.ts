/** The kubelet closed the connection before its response was complete. */
export class ConnectionClosed extends Error {
  constructor() {
    super('the kubelet closed the connection before its response was complete');
  }
}

/**
 * Puts undici's errors of the protocol into our words; others are left as they are.
 *
 * They are not handed on as a cause: they hold on to what was received.
 */
export function explainHttpError(error: Error): Error {
  const { message } = error;
  const code = 'code' in error ? error.code : undefined;
  if (code === 'UND_ERR_SOCKET') {
    return message.endsWith('closed')
      ? new ConnectionClosed()
      : new Error(`its response is of no use: ${message}`);
  }
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return new Error('the response is not as long as its Content-Length says');
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return new Error("the response's headers are too large");
  return error.name === 'HTTPParserError' ? explainParserError(message) : error;
}

/** What llhttp complains of stands in parentheses. */
function explainParserError(message: string): Error {
  const start = message.indexOf('(');
  const complaint = message.slice(start + 1, message.lastIndexOf(')'));
  if (complaint.startsWith('Expected HTTP/')) return new Error('it does not speak HTTP');
  if (complaint === 'Invalid EOF state') return new ConnectionClosed();
  return new Error(`the response is not valid HTTP: ${complaint}`);
}

/** A kubelet whose response has another status than 200. */
export class KubeletStatusError extends Error {
  readonly statusCode: number;

  constructor(statusCode: number, text: string) {
    super(`HTTP status ${statusCode}${text === '' ? '' : `: ${text}`}`);
    this.statusCode = statusCode;
  }
}
