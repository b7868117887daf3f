// Fields that change together, keywords, money and times, and the operation of a database. Sources:
// "Data Model Design for MongoDB", releases 2.4.9 and 3.2.6, sections "Model Data for Atomic
// Operations", "Model Specific Application Contexts" and "Operational Factors and Data Models".
'use strict';

const book = {
  _id: 123456789,
  title: "MongoDB: The Definitive Guide",
  author: [ "Kristina Chodorow", "Mike Dirolf" ],
  published_date: ISODate("2010-09-24"),
  pages: 216,
  language: "English",
  publisher_id: "oreilly",
  available: 3,
  checkout: [ { by: "joe", date: ISODate("2012-10-15") } ]
};

example('Model Data for Atomic Operations, by findAndModify', () => {
  db.books.insert(book);
  const checkOut = () => db.books.findAndModify ( {
    query: {
      _id: 123456789,
      available: { $gt: 0 }
    },
    update: {
      $inc: { available: -1 },
      $push: { checkout: { by: "abc", date: new Date() } }
    }
  } )
  assert.strictEqual(checkOut().available, 3);
  const after = db.books.findOne();
  assert.strictEqual(after.available, 2);
  same(after.checkout.map((each) => each.by), ["joe", "abc"]);
  checkOut();
  checkOut();
  assert.strictEqual(checkOut(), null);
  assert.strictEqual(db.books.findOne().checkout.length, 4);
});

example('Model Data for Atomic Operations, by update', () => {
  db.books.insert(book);
  const checkOut = () => db.books.update (
    { _id: 123456789, available: { $gt: 0 } },
    {
      $inc: { available: -1 },
      $push: { checkout: { by: "abc", date: new Date() } }
    }
  )
  // WriteResult({ "nMatched" : 1, "nUpserted" : 0, "nModified" : 1 })
  for (let copies = 3; copies > 0; --copies) {
    const { matchedCount, upsertedCount, modifiedCount } = checkOut();
    same([matchedCount, upsertedCount, modifiedCount], [1, 0, 1]);
  }
  // "If no document matched the update condition, then nMatched and nModified would be 0".
  const { matchedCount, modifiedCount } = checkOut();
  same([matchedCount, modifiedCount], [0, 0]);
});

example('Model Data to Support Keyword Search', () => {
  db.volumes.insert({
    title : "Moby-Dick" ,
    author : "Herman Melville" ,
    published : 1851 ,
    ISBN : NumberLong("0451526996") ,
    topics : [ "whaling" , "allegory" , "revenge" , "American" ,
      "novel" , "nautical" , "voyage" , "Cape Cod" ]
  });
  db.volumes.createIndex( { topics: 1 } )
  assert.strictEqual(db.volumes.findOne( { topics : "voyage" }, { title: 1 } ).title, "Moby-Dick");
  same(plan(db.volumes.find( { topics : "voyage" } )),
    { stages: 'FETCH IXSCAN(topics_1)', keys: 1, documents: 1 });
  assert.strictEqual(db.volumes.find( { topics : "voyages" } ).count(), 0);
});

example('Model Monetary Data', () => {
  db.prices.insert({ _id: 1, price: 9990, currency: "USD" });
  db.prices.update({ _id: 1 }, { $inc: { price: 10 } });
  db.prices.update({ _id: 1 }, { $mul: { price: 3 } });
  assert.strictEqual(db.prices.findOne().price, 30000);
  db.decimals.insertMany([{ price: NumberDecimal("0.1") }, { price: NumberDecimal("0.2") }]);
  const [{ sum }] = db.decimals.aggregate([{ $group: { _id: null, sum: { $sum: "$price" } } }]).toArray();
  assert.strictEqual(sum.toString(), "0.3");
});

example('Model Time Data', () => {
  var now = new Date();
  db.data.insert( { date: now,
                    offset: now.getTimezoneOffset() } );
  var record = db.data.findOne();
  var localNow = new Date( record.date.getTime() - ( record.offset * 60000 ) );
  assert.strictEqual(localNow.getTime(), now.getTime() - now.getTimezoneOffset() * 60000);
});

example('Large Number of Collections', () => {
  db.logs.insertMany([
    { log: "dev", ts: ISODate(), info: "a" },
    { log: "debug", ts: ISODate(), info: "b" },
  ]);
  db.logs.createIndex({ ts: 1 });
  db.getCollection("logs.dev").insert({ ts: ISODate(), info: "a" });
  // "To see the number of namespaces": two collections and three indexes.
  assert.strictEqual(db.system.namespaces.count(), 5);
});

example('Data Lifecycle Management', () => {
  db.createCollection("log", { capped: true, size: 5242880, max: 5 });
  for (const _id of [9, 3, 7, 1, 8, 2, 6]) db.log.insert({ _id });
  // "retrieve documents based on insertion order".
  assertIds(db.log.find(), [7, 1, 8, 2, 6]);
  assertIds(db.log.find().sort({ $natural: -1 }).limit(2), [6, 2]);
  assert.strictEqual(db.log.isCapped(), true);
  db.events.createIndex({ createdAt: 1 }, { expireAfterSeconds: 3600 });
  assert.strictEqual(db.events.getIndexes()[1].expireAfterSeconds, 3600);
});
