import { expect } from 'chai';
import {
  parseMysqlConnection,
  parsePostgresConnection,
} from '#lib/scaled-objects/triggers/parameters/connection-text.ts';

const UNREADABLE = 'the connection string is invalid';

describe('parsePostgresConnection', () => {
  for (const [text, connection] of [
    [
      "host=db.example port=5433 user=reader password='p w\\'d\\\\' dbname=shop sslmode=require",
      ['db.example', 5433, 'reader', "p w'd\\", 'shop', 'require'],
    ],
    [' host = db.example  dbname=shop ', ['db.example', undefined, undefined, undefined, 'shop', undefined]],
    ["host=db.example password=''", ['db.example', undefined, undefined, '', undefined, undefined]],
    ['', [undefined, undefined, undefined, undefined, undefined, undefined]],
    ['host=one host=two', ['two', undefined, undefined, undefined, undefined, undefined]],
    [
      'postgres://reader:p%40w@db.example:5433/my%20shop?sslmode=disable&x=y',
      ['db.example', 5433, 'reader', 'p@w', 'my shop', 'disable'],
    ],
    [' postgresql://[fd00::7]/shop ', ['fd00::7', undefined, '', '', 'shop', undefined]],
    [`host=${'a'.repeat(4091)}`, ['a'.repeat(4091), undefined, undefined, undefined, undefined, undefined]],
  ] as const)
    it(`reads ${JSON.stringify(text.slice(0, 60))}`, () => {
      const [host, port, user, password, database, sslmode] = connection;
      const expected = { host, port, user, password, database, sslmode };
      expect(parsePostgresConnection(text)).to.deep.equal(expected);
    });

  for (const text of [
    ...['host', 'host=a hidden', "password='hidden", 'Host=a'],
    ...['postgres://u:hidden@h:port/d', 'postgres://u:%zzhidden@h/d', 'http://u:hidden@h/d'],
    `host=${'a'.repeat(4092)}`,
  ])
    it(`rejects ${JSON.stringify(text.slice(0, 30))}, and shows nothing of it`, () => {
      expect(() => parsePostgresConnection(text))
        .to.throw(Error)
        .with.property('message', UNREADABLE);
    });
});

describe('parseMysqlConnection', () => {
  for (const [text, connection] of [
    ['reader:secret@tcp(db.example:3307)/shop', ['db.example', 3307, 'reader', 'secret', 'shop']],
    [' reader@tcp(db.example)/shop?tls=true&x=/y ', ['db.example', 3306, 'reader', undefined, 'shop']],
    ['reader:s:e/c?r@t@tcp(db.example:3307)/shop', ['db.example', 3307, 'reader', 's:e/c?r@t', 'shop']],
    ['reader:@tcp([fd00::7]:3307)/', ['fd00::7', 3307, 'reader', '', '']],
    ['tcp([fd00::7])/shop', ['fd00::7', 3306, undefined, undefined, 'shop']],
    ['reader:secret@/shop', ['127.0.0.1', 3306, 'reader', 'secret', 'shop']],
    ['/shop', ['127.0.0.1', 3306, undefined, undefined, 'shop']],
    [`/${'a'.repeat(4095)}`, ['127.0.0.1', 3306, undefined, undefined, 'a'.repeat(4095)]],
  ] as const)
    it(`reads ${JSON.stringify(text.slice(0, 60))}`, () => {
      const [host, port, user, password, database] = connection;
      const expected = { host, port, user, password, database, sslmode: undefined };
      expect(parseMysqlConnection(text)).to.deep.equal(expected);
    });

  for (const text of [
    ...['', 'shop', 'reader:hidden@tcp(db.example:3306)', 'reader:hidden@unix(/run/db)/shop'],
    ...['reader:hidden@tcp()/shop', 'reader:hidden@db.example/shop', `/${'a'.repeat(4096)}`],
  ])
    it(`rejects ${JSON.stringify(text.slice(0, 40))}, and shows nothing of it`, () => {
      expect(() => parseMysqlConnection(text))
        .to.throw(Error)
        .with.property('message', UNREADABLE);
    });
});
