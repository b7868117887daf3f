// Log-ins over TCP, what roles allow, and certificates: good and bad ones of each.
'use strict';
const assert = require('node:assert/strict');
const { describe, test } = require('node:test');
const {
  connect, connectToSocket, assertCode, password, certificate, driver, REFUSAL_MS,
} = require('./client.js');

const TCP = process.env.CLIENT_TCP;
const TLS = process.env.CLIENT_TLS;
const owner = connectToSocket();

const logIn = (username, options = {}, address = TCP) =>
  connect(address, {
    auth: { username, password: options.password ?? password },
    authSource: 'test',
    ...(options.mechanism ? { authMechanism: options.mechanism } : {}),
    ...options.tls,
  });

const connectByTls = (options = {}) =>
  connect(TLS, { tls: true, tlsCAFile: certificate('ca.pem'), ...options });

const assertNoServer = (client) =>
  assert.rejects(client.db('admin').command({ ping: 1 }), driver.MongoServerSelectionError);

describe('Log-ins and TLS', () => {
  for (const [user, mechanism] of [
    ['both', undefined], ['both', 'SCRAM-SHA-1'], ['both', 'SCRAM-SHA-256'],
    ['sha1', undefined], ['sha1', 'SCRAM-SHA-1'], ['sha256', 'SCRAM-SHA-256'],
  ]) {
    test(`${user} logs in by ${mechanism ?? 'what is agreed on'}`, async () => {
      const client = logIn(user, { mechanism });
      const items = client.db('test').collection('node-items');
      await items.replaceOne({ _id: 1 }, { by: user }, { upsert: true });
      assert.deepEqual(await items.findOne(), { _id: 1, by: user });
      await items.drop();
    });
  }

  for (const [user, options] of [
    ['both', { password: 'wrong', mechanism: 'SCRAM-SHA-256' }],
    ['both', { password: 'wrong', mechanism: 'SCRAM-SHA-1' }],
    ['nobody', {}],
    ['sha1', { mechanism: 'SCRAM-SHA-256' }],
    ['sha256', { mechanism: 'SCRAM-SHA-1' }],
  ]) {
    test(`${user} is refused with ${JSON.stringify(options)}`, async () => {
      await assertCode(logIn(user, options).connect(), 18, 'AuthenticationFailed');
      // So many failures in a row would shut out even the right password for a while.
      if (user !== 'nobody') await logIn(user).connect();
    });
  }

  test('Without a log-in nothing is answered', async () => {
    const client = connect(TCP);
    assert.equal((await client.db('admin').command({ ping: 1 })).ok, 1);
    const items = client.db('test').collection('node-items');
    await assertCode(items.findOne(), 13, 'Unauthorized');
    await assertCode(items.insertOne({}), 13, 'Unauthorized');
  });

  test('Readers may not write', async () => {
    await owner.db('test').collection('node-items').insertOne({ _id: 1 });
    const items = logIn('reader').db('test').collection('node-items');
    assert.deepEqual(await items.findOne(), { _id: 1 });
    for (const refused of [
      () => items.insertOne({}),
      () => items.updateOne({}, { $set: { a: 1 } }),
      () => items.deleteMany({}),
      () => items.createIndex({ a: 1 }),
      () => items.aggregate([{ $out: 'node-other' }]).toArray(),
      () => items.drop(),
    ]) {
      await assertCode(refused(), 13, 'Unauthorized');
    }
    await owner.db('test').collection('node-items').drop();
  });

  test('The right authority connects and logs in', async () => {
    const client = logIn('both', { tls: { tls: true, tlsCAFile: certificate('ca.pem') } }, TLS);
    const bucket = new driver.GridFSBucket(client.db('test'));
    const stream = bucket.openUploadStream('f');
    const data = Buffer.alloc(3_000_000, 'gridmount');
    await new Promise((resolve, reject) => {
      stream.on('error', reject).on('finish', resolve);
      stream.end(data);
    });
    const parts = [];
    for await (const part of bucket.openDownloadStream(stream.id)) parts.push(part);
    assert.ok(Buffer.concat(parts).equals(data));
    await bucket.delete(stream.id);
  });

  test('Another authority is refused', async () => {
    await assertNoServer(
      connectByTls({ tlsCAFile: certificate('other-ca.pem'), serverSelectionTimeoutMS: REFUSAL_MS }),
    );
  });

  test('Client certificates are optional, but checked', async () => {
    const good = connectByTls({ tlsCertificateKeyFile: certificate('client.pem') });
    assert.equal((await good.db('admin').command({ ping: 1 })).ok, 1);
    await assertCode(good.db('test').collection('items').findOne(), 13, 'Unauthorized');
    assert.equal((await connectByTls().db('admin').command({ ping: 1 })).ok, 1);
    await assertNoServer(
      connectByTls({
        tlsCertificateKeyFile: certificate('other-client.pem'),
        serverSelectionTimeoutMS: REFUSAL_MS,
      }),
    );
  });

  test('Plain connections are refused where TLS is asked for', async () => {
    await assertNoServer(connect(TLS, { serverSelectionTimeoutMS: REFUSAL_MS }));
  });

  test('A wrong password is refused over TLS, too', async () => {
    const tls = { tls: true, tlsCAFile: certificate('ca.pem') };
    await assertCode(
      logIn('both', { password: 'wrong', tls }, TLS).connect(), 18, 'AuthenticationFailed',
    );
  });
});
