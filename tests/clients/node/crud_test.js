// Documents are written, found, changed and deleted, one at a time and in bulk.
'use strict';
const assert = require('node:assert/strict');
const { describe, test, beforeEach } = require('node:test');
const { driver, connectToSocket, freshDatabase, assertCode } = require('./client.js');

const client = connectToSocket();
let db;
let items;

describe('Documents', () => {
  beforeEach(async () => {
    db = await freshDatabase(client);
    items = db.collection('items');
  });

  const insertItems = (count) =>
    items.insertMany(
      Array.from({ length: count }, (_, i) => ({ _id: i, kind: i % 3, name: `item ${i}` })),
    );

  test('All types come back as they were', async () => {
    const types = {
      double: new driver.Double(1.5),
      string: 'ünïcödé',
      document: { a: { b: 1 } },
      array: [1, '2', [3]],
      binary: new driver.Binary(Buffer.from([0, 255])),
      uuid: new driver.UUID('01234567-89ab-4def-8123-456789abcdef'),
      objectId: new driver.ObjectId('65a000000000000000000001'),
      boolean: true,
      date: new Date('2024-02-29T12:30:01.500Z'),
      none: null,
      regex: new driver.BSONRegExp('^a.c', 'i'),
      code: new driver.Code('f()'),
      timestamp: new driver.Timestamp({ t: 1, i: 2 }),
      int: new driver.Int32(7),
      long: driver.Long.fromString('1099511627776'),
      decimal: driver.Decimal128.fromString('0.10'),
      min: new driver.MinKey(),
      max: new driver.MaxKey(),
    };
    const inserted = await items.insertOne({ _id: 1, ...types });
    assert.deepEqual(inserted, { acknowledged: true, insertedId: 1 });
    const found = await items.findOne({}, { promoteValues: false, bsonRegExp: true });
    const ejson = (value) => driver.BSON.EJSON.stringify(value, { relaxed: false });
    delete found._id;
    assert.equal(ejson(found), ejson(types));
  });

  test('Finds filter, sort, skip, limit and project', async () => {
    await insertItems(20);
    const found = await items
      .find({ kind: 1, _id: { $gte: 4 } })
      .project({ name: 1 })
      .sort({ _id: -1 })
      .skip(1)
      .limit(3)
      .toArray();
    assert.deepEqual(found, [16, 13, 10].map((i) => ({ _id: i, name: `item ${i}` })));
    assert.equal(await items.findOne({ _id: 99 }), null);
    assert.deepEqual((await items.distinct('kind')).sort(), [0, 1, 2]);
    assert.equal((await items.find({ name: /1$/ }).toArray()).length, 2);
  });

  test('Updates, replaces and upserts say what they did', async () => {
    await insertItems(9);
    const one = await items.updateOne({ _id: 3 }, { $set: { name: 'third' }, $inc: { n: 2 } });
    assert.deepEqual([one.matchedCount, one.modifiedCount, one.upsertedId], [1, 1, null]);
    assert.deepEqual(await items.findOne({ _id: 3 }), { _id: 3, kind: 0, name: 'third', n: 2 });
    const many = await items.updateMany({ kind: 1 }, { $push: { tags: { $each: ['a', 'b'] } } });
    assert.equal(many.modifiedCount, 3);
    const filtered = await items.updateOne(
      { _id: 1 }, { $set: { 'tags.$[tag]': 'B' } }, { arrayFilters: [{ tag: 'b' }] },
    );
    assert.equal(filtered.modifiedCount, 1);
    assert.deepEqual((await items.findOne({ _id: 1 })).tags, ['a', 'B']);
    const replaced = await items.replaceOne({ _id: 5 }, { whole: 'other' });
    assert.equal(replaced.modifiedCount, 1);
    assert.deepEqual(await items.findOne({ _id: 5 }), { _id: 5, whole: 'other' });
    const fresh = await items.updateOne({ key: 'k' }, { $set: { v: 1 } }, { upsert: true });
    assert.deepEqual([fresh.matchedCount, fresh.upsertedCount], [0, 1]);
    assert.ok(fresh.upsertedId instanceof driver.ObjectId);
    const piped = await items.updateOne({ _id: 6 }, [{ $set: { twice: { $multiply: ['$_id', 2] } } }]);
    assert.equal(piped.modifiedCount, 1);
  });

  test('Deletes remove one or all', async () => {
    await insertItems(10);
    assert.equal((await items.deleteOne({ kind: 0 })).deletedCount, 1);
    assert.equal((await items.deleteMany({ kind: 0 })).deletedCount, 3);
    assert.equal(await items.countDocuments(), 6);
  });

  test('findAndModify returns before or after', async () => {
    await insertItems(5);
    assert.deepEqual(await items.findOneAndUpdate({ _id: 1 }, { $inc: { n: 1 } }), {
      _id: 1, kind: 1, name: 'item 1',
    });
    const after = await items.findOneAndUpdate(
      { kind: 1 }, { $inc: { n: 1 } },
      { sort: { _id: 1 }, projection: { n: 1 }, returnDocument: 'after' },
    );
    assert.deepEqual(after, { _id: 1, n: 2 });
    const made = await items.findOneAndReplace(
      { _id: 50 }, { a: 1 }, { upsert: true, returnDocument: 'after', includeResultMetadata: true },
    );
    assert.deepEqual(made.value, { _id: 50, a: 1 });
    assert.deepEqual(made.lastErrorObject, { n: 1, updatedExisting: false, upserted: 50 });
    assert.deepEqual(await items.findOneAndDelete({}, { sort: { _id: -1 } }), { _id: 50, a: 1 });
    assert.equal(await items.findOneAndDelete({ _id: 50 }), null);
  });

  test('Bulk writes are ordered or not', async () => {
    const result = await items.bulkWrite([
      { insertOne: { document: { _id: 1 } } },
      { insertOne: { document: { _id: 2 } } },
      { updateOne: { filter: { _id: 1 }, update: { $set: { a: 1 } } } },
      { updateMany: { filter: {}, update: { $set: { b: 1 } } } },
      { replaceOne: { filter: { _id: 3 }, replacement: { c: 1 }, upsert: true } },
      { deleteOne: { filter: { _id: 2 } } },
      { deleteMany: { filter: { _id: { $gt: 100 } } } },
    ]);
    assert.deepEqual(
      [result.insertedCount, result.modifiedCount, result.upsertedCount, result.deletedCount],
      [2, 3, 1, 1],
    );
    assert.deepEqual(result.upsertedIds, { 4: 3 });
    const statements = [10, 1, 11, 3, 12].map((_id) => ({ insertOne: { document: { _id } } }));
    await assert.rejects(items.bulkWrite(statements), (error) => {
      assert.equal(error.code, 11000);
      assert.equal(error.result.insertedCount, 1);
      return true;
    });
    await items.deleteOne({ _id: 10 });
    await assert.rejects(items.bulkWrite(statements, { ordered: false }), (error) => {
      assert.equal(error.result.insertedCount, 3);
      assert.deepEqual(error.writeErrors.map((each) => each.index), [1, 3]);
      return true;
    });
  });

  test('Duplicate keys are named', async () => {
    await items.createIndex({ a: 1, b: -1 }, { unique: true });
    await items.insertOne({ _id: 1, a: 'x', b: 2 });
    await assert.rejects(items.insertOne({ _id: 2, a: 'x', b: 2 }), (error) => {
      assert.equal(error.code, 11000);
      assert.deepEqual(error.keyPattern ?? error.errorResponse.keyPattern, { a: 1, b: -1 });
      assert.deepEqual(error.keyValue ?? error.errorResponse.keyValue, { a: 'x', b: 2 });
      assert.match(error.message, /E11000 duplicate key error collection: node\.items index: a_1_b_-1/);
      return true;
    });
    await items.insertOne({ _id: 3 });
    await assertCode(items.updateOne({ _id: 3 }, { $set: { a: 'x', b: 2 } }), 11000);
    await assertCode(
      items.findOneAndUpdate({ _id: 3 }, { $set: { a: 'x', b: 2 } }), 11000, 'DuplicateKey',
    );
  });

  test('Bad requests are refused', async () => {
    await assertCode(items.findOne({ a: { $nonsense: 1 } }), 2, 'BadValue');
    await assertCode(items.updateOne({}, { $nonsense: { a: 1 } }), 9);
    await assertCode(db.command({ nonsense: 1 }), 59, 'CommandNotFound');
    await assertCode(db.command({ find: 'items', nonsense: 1 }), 40415);
    await db.createCollection('checked', { validator: { n: { $gte: 0 } } });
    await assertCode(db.collection('checked').insertOne({ n: -1 }), 121);
  });

  test('Unacknowledged writes disturb nobody', async () => {
    const careless = db.collection('items', { writeConcern: { w: 0 } });
    for (let i = 0; i < 50; ++i) await careless.insertOne({ _id: i % 25 });
    for (let i = 0; i < 200 && (await items.countDocuments()) < 25; ++i) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.equal(await items.countDocuments(), 25);
  });
});
