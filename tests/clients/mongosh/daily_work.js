// What people do in a shell: documents, indexes, pipelines and cursors, in the shell's own words.
'use strict';

const numbered = (count) => Array.from({ length: count }, (_, i) => ({ _id: i, kind: i % 3 }));

example('Documents', () => {
  same(db.items.insertOne({ _id: 1, a: 1 }), { acknowledged: true, insertedId: 1 });
  same(db.items.insertMany([{ _id: 2 }, { _id: 3 }]).insertedIds, { 0: 2, 1: 3 });
  same(db.items.find({ _id: { $gt: 1 } }, { _id: 1 }).sort({ _id: -1 }).limit(1).toArray(), [{ _id: 3 }]);
  same(db.items.updateOne({ _id: 1 }, { $set: { b: 2 } }).modifiedCount, 1);
  same(db.items.replaceOne({ _id: 2 }, { c: 3 }).modifiedCount, 1);
  same(db.items.updateOne({ _id: 9 }, { $set: { d: 4 } }, { upsert: true }).upsertedCount, 1);
  same(db.items.findOneAndUpdate({ _id: 9 }, { $inc: { d: 1 } }, { returnDocument: 'after' }),
    { _id: 9, d: 5 });
  same(db.items.deleteOne({ _id: 3 }).deletedCount, 1);
  same(db.items.find().toArray(), [{ _id: 1, a: 1, b: 2 }, { _id: 2, c: 3 }, { _id: 9, d: 5 }]);
  const bulk = db.items.bulkWrite([
    { insertOne: { document: { _id: 4 } } },
    { updateMany: { filter: {}, update: { $set: { e: 1 } } } },
    { deleteOne: { filter: { _id: 1 } } },
  ]);
  same([bulk.insertedCount, bulk.modifiedCount, bulk.deletedCount], [1, 4, 1]);
  same(db.items.deleteMany({}).deletedCount, 3);
});

example('Duplicate keys', () => {
  db.items.createIndex({ a: 1 }, { unique: true });
  db.items.insertOne({ _id: 1, a: 'x' });
  try {
    db.items.insertOne({ _id: 2, a: 'x' });
    assert.fail('it was inserted');
  } catch (error) {
    same(error.code, 11000);
    same(error.errorResponse?.keyPattern ?? error.keyPattern, { a: 1 });
    same(error.errorResponse?.keyValue ?? error.keyValue, { a: 'x' });
  }
});

example('Indexes and collections', () => {
  same(db.items.createIndex({ a: 1, b: -1 }), 'a_1_b_-1');
  same(db.items.getIndexes().map((index) => index.name), ['_id_', 'a_1_b_-1']);
  same(db.items.dropIndex('a_1_b_-1').ok, 1);
  refused(27, () => db.items.dropIndex('a_1_b_-1'));
  db.createCollection('log', { capped: true, size: 4096 });
  same(db.getCollectionNames().sort(), ['items', 'log']);
  same(db.items.renameCollection('things').ok, 1);
  same(db.things.drop(), true);
  same(db.log.stats().capped, true);
  same(db.stats().ok, 1);
  same(db.serverStatus().ok, 1);
  assert.match(db.version(), /^7\.0\./);
});

example('Pipelines and counts', () => {
  db.items.insertMany(numbered(9));
  db.kinds.insertMany([{ _id: 0, name: 'none' }, { _id: 1, name: 'one' }]);
  same(db.items.aggregate([
    { $match: { kind: { $lt: 2 } } },
    { $group: { _id: '$kind', n: { $sum: 1 } } },
    { $lookup: { from: 'kinds', localField: '_id', foreignField: '_id', as: 'kind' } },
    { $set: { kind: { $first: '$kind.name' } } },
    { $sort: { _id: 1 } },
  ]).toArray(), [{ _id: 0, n: 3, kind: 'none' }, { _id: 1, n: 3, kind: 'one' }]);
  same(db.items.countDocuments({ kind: 1 }), 3);
  same(db.items.estimatedDocumentCount(), 9);
  same(db.items.distinct('kind'), [0, 1, 2]);
  refused(40324, () => db.items.aggregate([{ $nonsense: 1 }]).toArray());
});

example('Cursors', () => {
  db.items.insertMany(numbered(250));
  same(db.items.find().batchSize(20).toArray().length, 250);
  const cursor = db.items.find().batchSize(100);
  same(cursor.next(), { _id: 0, kind: 0 });
  same(cursor.objsLeftInBatch(), 99);
  cursor.close();
  const { cursor: opened } = db.runCommand({ find: 'items', batchSize: 2 });
  same(db.runCommand({ killCursors: 'items', cursors: [opened.id] }).cursorsKilled.length, 1);
  refused(43, () => db.runCommand({ getMore: opened.id, collection: 'items' }));
  db.createCollection('log', { capped: true, size: 4096 });
  db.log.insertMany([{ _id: 1 }, { _id: 2 }]);
  const tail = db.log.find().tailable();
  same([tail.next()._id, tail.next()._id, tail.tryNext()], [1, 2, null]);
  db.log.insertOne({ _id: 3 });
  same(tail.tryNext(), { _id: 3 });
  tail.close();
});

example('Users', () => {
  db.createUser({ user: 'ann', pwd: 'secret', roles: ['readWrite'] });
  same(db.getUser('ann').roles, [{ role: 'readWrite', db: 'mongosh' }]);
  same(db.auth('ann', 'secret').ok, 1);
  db.updateUser('ann', { roles: ['read'] });
  same(db.getUsers().users.map((user) => user.user), ['ann']);
  same(db.dropUser('ann').ok, 1);
  same(db.getUser('ann'), null);
});
