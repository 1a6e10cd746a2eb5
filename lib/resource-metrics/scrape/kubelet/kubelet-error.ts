/** The kubelet closed the connection before its response was complete. */
export class ConnectionClosed extends Error {
  constructor() {
    super('the kubelet closed the connection before its response was complete');
  }
}

/**
 * Describes undici's protocol errors; returns other errors unchanged.
 *
 * The error is not the `cause` of the result, since it retains the received data.
 */
export function explainHttpError(error: Error): Error {
  const { message } = error;
  const code = 'code' in error ? error.code : undefined;
  if (code === 'UND_ERR_SOCKET') {
    return message.endsWith('closed') ? new ConnectionClosed() : new Error(`invalid response: ${message}`);
  }
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return new Error('the length of the response differs from its Content-Length');
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return new Error('the headers of the response are too large');
  return error.name === 'HTTPParserError' ? explainParserError(message) : error;
}

/** llhttp's messages have the reason in parentheses. */
function explainParserError(message: string): Error {
  const start = message.indexOf('(');
  const reason = message.slice(start + 1, message.lastIndexOf(')'));
  if (reason.startsWith('Expected HTTP/')) return new Error('it does not speak HTTP');
  if (reason === 'Invalid EOF state') return new ConnectionClosed();
  return new Error(`the response is not valid HTTP: ${reason}`);
}

/** A response with a status other than 200. */
export class KubeletStatusError extends Error {
  readonly statusCode: number;

  constructor(statusCode: number, text: string) {
    super(`HTTP status ${statusCode}${text === '' ? '' : `: ${text}`}`);
    this.statusCode = statusCode;
  }
}
