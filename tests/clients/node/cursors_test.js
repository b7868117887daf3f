// Cursors: batches, their end, and those that wait for more.
'use strict';
const assert = require('node:assert/strict');
const { describe, test, beforeEach } = require('node:test');
const { connectToSocket, freshDatabase, assertCode } = require('./client.js');

const client = connectToSocket();
let db;
let items;

describe('Cursors', () => {
  beforeEach(async () => {
    db = await freshDatabase(client);
    items = db.collection('items');
    await items.insertMany(Array.from({ length: 250 }, (_, i) => ({ _id: i })));
  });

  const openCursors = async () =>
    (await client.db('admin').command({ serverStatus: 1 })).metrics.cursor.open.total;

  test('Batches have their size, and all of them come together', async () => {
    const first = await db.command({ find: 'items', batchSize: 100 });
    assert.equal(first.cursor.firstBatch.length, 100);
    const more = await db.command({ getMore: first.cursor.id, collection: 'items', batchSize: 250 });
    assert.equal(more.cursor.nextBatch.length, 150);
    assert.equal(Number(more.cursor.id), 0);
    for (const size of [1, 2, 99, 249, 250, 251]) {
      const found = await items.find({}, { batchSize: size }).toArray();
      assert.equal(found.length, 250, `batches of ${size}`);
    }
    let sum = 0;
    for await (const item of items.find({}, { batchSize: 20 }).limit(35)) sum += item._id;
    assert.equal(sum, (34 * 35) / 2);
  });

  test('Closed cursors are gone', async () => {
    const before = await openCursors();
    const cursor = items.find({}, { batchSize: 10 });
    await cursor.next();
    assert.equal(await openCursors(), before + 1);
    const id = cursor.id;
    await cursor.close();
    assert.equal(await openCursors(), before);
    await assertCode(db.command({ getMore: id, collection: 'items' }), 43, 'CursorNotFound');
    const opened = (await db.command({ find: 'items', batchSize: 1 })).cursor.id;
    const killed = await db.command({ killCursors: 'items', cursors: [opened] });
    assert.deepEqual(killed.cursorsKilled.map(String), [String(opened)]);
  });

  test('Sessions end with their cursors', async () => {
    const before = await openCursors();
    const session = client.startSession();
    const cursor = items.find({}, { session, batchSize: 10 });
    await cursor.next();
    const lsid = session.id;
    await db.command({ killSessions: [lsid] });
    assert.equal(await openCursors(), before);
    await cursor.close();
    await session.endSession();
  });

  test('Tailable cursors follow a capped collection', async () => {
    const log = await db.createCollection('log', { capped: true, size: 1 << 20 });
    await log.insertMany([{ _id: 0 }, { _id: 1 }]);
    const cursor = log.find({}, { tailable: true, awaitData: true, maxAwaitTimeMS: 500 });
    assert.deepEqual([(await cursor.next())._id, (await cursor.next())._id], [0, 1]);
    setTimeout(() => log.insertOne({ _id: 2 }), 200);
    assert.equal((await cursor.next())._id, 2);
    await cursor.close();
    await assertCode(items.find({}, { tailable: true }).next(), 2, 'BadValue');
  });
});
