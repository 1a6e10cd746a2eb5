/** Parts of a connection string. */
export interface ConnectionText {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  readonly database?: string | undefined;
  readonly sslmode?: string | undefined;
}

const MAX_LENGTH = 4096;
const PAIR = /\s*([a-z_]+)\s*=\s*(?:'((?:[^'\\]|\\.)*)'|([^\s']*))/y;

/**
 * Parses a PostgreSQL connection string: a URL, or `host=a port=5432 …`.
 *
 * @throws an Error without the text, which may contain a password
 */
export function parsePostgresConnection(text: string): ConnectionText {
  if (text.length > MAX_LENGTH) throw unreadable();
  const trimmed = text.trim();
  if (/^postgres(?:ql)?:\/\//.test(trimmed)) return urlOf(trimmed);
  const found = new Map<string, string>();
  PAIR.lastIndex = 0;
  let end = 0;
  for (let match = PAIR.exec(trimmed); match; match = PAIR.exec(trimmed)) {
    const [whole, key = '', quoted, plain = ''] = match;
    found.set(key, quoted?.replace(/\\(.)/g, '$1') ?? plain);
    end += whole.length;
  }
  if (end !== trimmed.length) throw unreadable();
  const port = found.get('port');
  return {
    host: found.get('host'),
    port: port === undefined ? undefined : Number(port),
    user: found.get('user'),
    password: found.get('password'),
    database: found.get('dbname'),
    sslmode: found.get('sslmode'),
  };
}

/** The user ends at the first colon, the password at the last @ before the address. */
const MYSQL = /^(?:([^:]*?)(?::(.*))?@)?(?:tcp\(([^()]+)\))?\/([^/?]*)(?:\?.*)?$/s;

/**
 * Parses a MySQL connection string in the format of Go's driver: `user:password@tcp(host:3306)/database`.
 *
 * @throws an Error without the text, which may contain a password
 */
export function parseMysqlConnection(text: string): ConnectionText {
  const match = text.length > MAX_LENGTH ? null : MYSQL.exec(text.trim());
  if (!match) throw unreadable();
  const [, user, password, address = '127.0.0.1:3306', database] = match;
  const colon = address.lastIndexOf(':');
  const hasPort = colon > address.lastIndexOf(']') && colon !== -1;
  return {
    host: (hasPort ? address.slice(0, colon) : address).replace(/^\[|\]$/g, ''),
    port: hasPort ? Number(address.slice(colon + 1)) : 3306,
    ...{ user, password, database },
    sslmode: undefined,
  };
}

function urlOf(text: string): ConnectionText {
  if (!URL.canParse(text)) throw unreadable();
  const { hostname, port, username, password, pathname, searchParams } = new URL(text);
  try {
    return {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? undefined : Number(port),
      user: decodeURIComponent(username),
      password: decodeURIComponent(password),
      database: decodeURIComponent(pathname.slice(1)),
      sslmode: searchParams.get('sslmode') ?? undefined,
    };
  } catch {
    throw unreadable();
  }
}

function unreadable(): Error {
  return new Error('the connection string is invalid');
}
