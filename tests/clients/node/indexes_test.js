// Indexes, collections and pipelines.
'use strict';
const assert = require('node:assert/strict');
const { describe, test, beforeEach } = require('node:test');
const { connectToSocket, freshDatabase, assertCode } = require('./client.js');

const client = connectToSocket();
let db;
let items;

describe('Indexes, collections and pipelines', () => {
  beforeEach(async () => {
    db = await freshDatabase(client);
    items = db.collection('items');
  });

  test('Indexes are made, listed and dropped', async () => {
    assert.equal(await items.createIndex({ a: 1 }), 'a_1');
    const names = await items.createIndexes([
      { key: { a: 1, b: -1 }, name: 'both', unique: true },
      { key: { c: 1 }, sparse: true },
      { key: { at: 1 }, expireAfterSeconds: 3600 },
      { key: { d: 1 }, partialFilterExpression: { d: { $gt: 5 } } },
    ]);
    assert.deepEqual(names, ['both', 'c_1', 'at_1', 'd_1']);
    const listed = await items.listIndexes().toArray();
    assert.deepEqual(listed.map((index) => index.name), ['_id_', 'a_1', ...names]);
    assert.deepEqual(listed[2], { v: 2, key: { a: 1, b: -1 }, name: 'both', unique: true });
    assert.equal(await items.indexExists('both'), true);
    await assertCode(items.createIndex({ z: 1 }, { name: 'a_1' }), 86, 'IndexKeySpecsConflict');
    await items.dropIndex('a_1');
    await assertCode(items.dropIndex('a_1'), 27, 'IndexNotFound');
    await items.dropIndexes();
    assert.equal((await items.indexes()).length, 1);
  });

  test('Unique indexes are not made over duplicates', async () => {
    await items.insertMany([{ a: 1 }, { a: 1 }]);
    await assertCode(items.createIndex({ a: 1 }, { unique: true }), 11000, 'DuplicateKey');
  });

  test('Plans say which index they use', async () => {
    await items.insertMany(Array.from({ length: 100 }, (_, i) => ({ _id: i, a: i % 10 })));
    await items.createIndex({ a: 1 });
    const plan = await items.find({ a: 3 }).explain('executionStats');
    assert.equal(plan.queryPlanner.winningPlan.inputStage.indexName, 'a_1');
    assert.equal(plan.executionStats.nReturned, 10);
    assert.equal((await items.find({ a: 3 }).hint('a_1').toArray()).length, 10);
  });

  test('Collections are made, listed, renamed and dropped', async () => {
    await db.createCollection('one');
    await db.createCollection('log', { capped: true, size: 4096, max: 10 });
    await db.createCollection('view', { viewOn: 'one', pipeline: [{ $match: { a: 1 } }] });
    await assertCode(db.createCollection('log'), 48, 'NamespaceExists');
    const listed = await db.listCollections({ name: 'log' }).toArray();
    assert.deepEqual(listed[0].options, { capped: true, size: 4096, max: 10 });
    await db.collection('one').insertMany([{ a: 1 }, { a: 2 }]);
    assert.equal(await db.collection('view').countDocuments(), 1);
    await db.collection('one').rename('two');
    await assertCode(db.collection('log').rename('two'), 48, 'NamespaceExists');
    await db.collection('log').rename('two', { dropTarget: true });
    assert.equal(await db.collection('two').isCapped(), true);
    assert.equal(await db.dropCollection('two'), true);
    assert.equal((await db.stats()).db, 'node');
    const { databases } = await client.db().admin().listDatabases();
    assert.ok(databases.some((each) => each.name === 'node'));
  });

  test('Pipelines match, group, sort and join', async () => {
    await items.insertMany([
      { _id: 1, customer: 'ann', n: 2 },
      { _id: 2, customer: 'bob', n: 5 },
      { _id: 3, customer: 'ann', n: 3 },
      { _id: 4, customer: 'eve', n: 0 },
    ]);
    await db.collection('customers').insertMany([
      { _id: 'ann', city: 'Oslo' }, { _id: 'bob', city: 'Rome' },
    ]);
    const result = await items
      .aggregate([
        { $match: { n: { $gt: 0 } } },
        { $group: { _id: '$customer', n: { $sum: '$n' } } },
        { $lookup: { from: 'customers', localField: '_id', foreignField: '_id', as: 'who' } },
        { $project: { n: 1, city: { $first: '$who.city' } } },
        { $sort: { n: -1, _id: 1 } },
      ])
      .toArray();
    assert.deepEqual(result, [
      { _id: 'ann', n: 5, city: 'Oslo' }, { _id: 'bob', n: 5, city: 'Rome' },
    ]);
    assert.equal(await items.countDocuments({ customer: 'ann' }), 2);
    assert.equal(await items.estimatedDocumentCount(), 4);
    await items.aggregate([{ $out: 'copied' }]).toArray();
    assert.equal(await db.collection('copied').countDocuments(), 4);
    await assertCode(items.aggregate([{ $nonsense: {} }]).toArray(), 40324);
  });
});
