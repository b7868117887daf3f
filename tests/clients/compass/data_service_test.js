// MongoDB Compass's data service works as with a server: what Compass asks when it connects and when
// somebody opens a database, a collection, a pipeline or a plan. NODE_PATH leads to the package.
'use strict';
const { after, before, describe, it } = require('node:test');
const assert = require('node:assert/strict');

const { connect } = require('mongodb-data-service');

const DATABASE = 'compass';
const COLLECTION = `${DATABASE}.things`;
const password = encodeURIComponent(process.env.CLIENT_PASSWORD);

function open(address, options = '') {
  const connectionString = `mongodb://${address}/?serverSelectionTimeoutMS=10000${options}`;
  return connect({ connectionOptions: { connectionString }, productName: 'Compass' });
}

const names = (things) => things.map((thing) => thing.name);

describe('the data service', () => {
  let service;
  before(async () => {
    service = await open(encodeURIComponent(process.env.CLIENT_SOCKET));
    await service.dropDatabase(DATABASE);
    await service.createCollection(COLLECTION, {});
    const documents = [...Array(10).keys()].map((i) => ({ _id: i, a: i % 3 }));
    await service.insertMany(COLLECTION, documents);
    await service.createView('odd', COLLECTION, [{ $match: { a: 1 } }], {});
  });
  after(() => service.disconnect());

  it('tells of the instance', async () => {
    const instance = await service.instance();
    assert.match(instance.build.version, /^\d+\.\d+\.\d+$/);
    assert.equal(instance.build.isEnterprise, false);
    assert.equal(instance.dataLake.isDataLake, false);
    assert.equal(instance.genuineMongoDB.isGenuine, true);
    assert.equal(typeof instance.host.os, 'string');
    assert.deepEqual(instance.auth, { user: null, roles: [], privileges: [] });
    assert.equal(service.getCurrentTopologyType(), 'Single');
  });

  it('lists databases and collections', async () => {
    const databases = await service.listDatabases();
    assert.ok(names(databases).includes(DATABASE));
    const collections = await service.listCollections(DATABASE);
    const own = names(collections).filter((name) => !name.startsWith('system.'));
    assert.deepEqual(own.sort(), ['odd', 'things']);
    const view = collections.find((collection) => collection.name === 'odd');
    assert.equal(view.type, 'view');
    assert.equal(view.view_on, 'things');
    const stats = await service.collectionStats(DATABASE, 'things');
    assert.equal(stats.document_count, 10);
    const info = await service.collectionInfo(DATABASE, 'things');
    assert.equal(info.type, 'collection');
    const databaseStats = await service.databaseStats(DATABASE);
    assert.ok(databaseStats.document_count >= 10); // servers count the view as well
  });

  it('finds, counts and samples', async () => {
    const found = await service.find(COLLECTION, { a: 0 }, { sort: { _id: -1 }, limit: 2 });
    assert.deepEqual(found, [{ _id: 9, a: 0 }, { _id: 6, a: 0 }]);
    assert.equal(await service.count(COLLECTION, { a: 1 }), 3);
    assert.equal(await service.estimatedCount(COLLECTION), 10);
    const sample = await service.sample(COLLECTION, { size: 4 });
    assert.equal(sample.length, 4);
  });

  it('aggregates', async () => {
    const pipeline = [{ $group: { _id: '$a', n: { $sum: 1 } } }, { $sort: { _id: 1 } }];
    assert.deepEqual(await service.aggregate(COLLECTION, pipeline), [
      { _id: 0, n: 4 }, { _id: 1, n: 3 }, { _id: 2, n: 3 },
    ]);
    assert.equal((await service.aggregate(`${DATABASE}.odd`, [])).length, 3);
  });

  it('explains finds and pipelines', async () => {
    const options = { explainVerbosity: 'executionStats' };
    const find = await service.explainFind(COLLECTION, { _id: 3 }, {}, options);
    assert.equal(find.queryPlanner.winningPlan.stage, 'IDHACK');
    assert.equal(find.executionStats.nReturned, 1);
    const pipeline = [{ $match: { a: 1 } }, { $group: { _id: '$a' } }];
    const aggregate = await service.explainAggregate(COLLECTION, pipeline, {}, options);
    const stages = aggregate.stages ?? [{ $cursor: aggregate }];
    assert.ok(stages[0].$cursor.executionStats.executionSuccess);
  });

  it('makes and drops indexes', async () => {
    await service.createIndex(COLLECTION, { a: 1 }, { name: 'by_a' });
    const indexes = await service.indexes(COLLECTION);
    assert.deepEqual(names(indexes).sort(), ['_id_', 'by_a']);
    assert.equal(indexes.find((index) => index.name === 'by_a').properties.length, 0);
    await service.dropIndex(COLLECTION, 'by_a');
    assert.deepEqual(names(await service.indexes(COLLECTION)), ['_id_']);
  });
});

describe('the data service of a user', () => {
  it('shows what the user may see', async () => {
    const service = await open(`reader:${password}@${process.env.CLIENT_TCP}`, '&authSource=test');
    try {
      const { auth } = await service.instance();
      assert.equal(auth.user.user, 'reader');
      assert.deepEqual(auth.roles, [{ role: 'read', db: 'test' }]);
      assert.ok(auth.privileges.some(({ resource, actions }) =>
        resource.db === 'test' && actions.includes('find')));
      assert.ok(names(await service.listDatabases()).includes('test'));
      const collections = await service.listCollections('test');
      assert.ok(names(collections).includes('fs.files'), names(collections).join());
    } finally {
      await service.disconnect();
    }
  });
});
